// Generated from apiresourceschemas/ by `make generate`. Do not edit.

export const KubeBindConnectionSchema = {
  "description": "KubeBindConnection says that this workspace trusts one provider, and with which credentials: either those that a kube-bind backend gives after a login (spec.backend), or a kubeconfig that the user already has (spec.kubeconfigSecretRef).",
  "type": "object",
  "required": [
    "spec"
  ],
  "properties": {
    "apiVersion": {
      "type": "string"
    },
    "kind": {
      "type": "string"
    },
    "metadata": {
      "type": "object"
    },
    "spec": {
      "type": "object",
      "x-kubernetes-validations": [
        {
          "rule": "has(self.backend) != has(self.kubeconfigSecretRef)",
          "message": "set exactly one of spec.backend and spec.kubeconfigSecretRef"
        },
        {
          "rule": "has(self.backend) == has(oldSelf.backend)",
          "message": "spec.backend and spec.kubeconfigSecretRef cannot be exchanged; create another connection"
        },
        {
          "rule": "!has(self.login) || has(self.backend)",
          "message": "spec.login belongs to spec.backend; remove it or set spec.backend"
        }
      ],
      "properties": {
        "backend": {
          "description": "A kube-bind backend, with which a person makes the handshake.",
          "type": "object",
          "required": [
            "url"
          ],
          "x-kubernetes-validations": [
            {
              "rule": "self == oldSelf",
              "message": "spec.backend is immutable; create another connection"
            }
          ],
          "properties": {
            "url": {
              "description": "Origin of the backend, for instance https://bind.example.com. A path prefix is kept.",
              "type": "string",
              "minLength": 1,
              "maxLength": 2048,
              "pattern": "^https?://[^/@\\s?#]+(/[^\\s?#]*)?$"
            },
            "clusterID": {
              "description": "The provider cluster to choose, where the backend serves several.",
              "type": "string",
              "minLength": 1,
              "maxLength": 256
            },
            "caBundle": {
              "description": "PEM certificates that the backend's certificate is verified with, in place of the system's.",
              "type": "string",
              "maxLength": 65536
            },
            "account": {
              "description": "Another account name asks the backend for a fresh, separate account of this workspace.",
              "type": "string",
              "minLength": 1,
              "maxLength": 63,
              "default": "default"
            }
          }
        },
        "kubeconfigSecretRef": {
          "description": "A Secret of this workspace with a kubeconfig for the provider. It must carry the label kcp.kube-bind.io/credentials: \"true\".",
          "type": "object",
          "required": [
            "namespace",
            "name"
          ],
          "x-kubernetes-validations": [
            {
              "rule": "self == oldSelf",
              "message": "spec.kubeconfigSecretRef is immutable; create another connection"
            }
          ],
          "properties": {
            "namespace": {
              "type": "string",
              "minLength": 1,
              "maxLength": 63
            },
            "name": {
              "type": "string",
              "minLength": 1,
              "maxLength": 253
            },
            "key": {
              "type": "string",
              "minLength": 1,
              "maxLength": 253,
              "default": "kubeconfig"
            }
          }
        },
        "login": {
          "description": "Asks for a (new) login. A change of it starts another.",
          "type": "object",
          "properties": {
            "challenge": {
              "description": "SHA-256, base64url without padding, of a verifier that only the person who makes the login knows. With it, nobody else can finish the login.",
              "type": "string",
              "pattern": "^[A-Za-z0-9_-]{43}$"
            }
          }
        }
      }
    },
    "status": {
      "type": "object",
      "properties": {
        "phase": {
          "type": "string",
          "enum": [
            "Pending",
            "AwaitingLogin",
            "Connected",
            "Failed",
            "Deleting"
          ]
        },
        "observedGeneration": {
          "type": "integer",
          "format": "int64",
          "minimum": 0
        },
        "authentication": {
          "description": "Where a person opens the login page. Present while a login is awaited.",
          "type": "object",
          "properties": {
            "url": {
              "type": "string",
              "maxLength": 4096
            },
            "userCode": {
              "description": "To be typed on the page where spec.login.challenge is not set.",
              "type": "string",
              "maxLength": 32
            },
            "expiresAt": {
              "type": "string",
              "format": "date-time"
            }
          }
        },
        "provider": {
          "type": "object",
          "properties": {
            "prettyName": {
              "type": "string",
              "maxLength": 256
            },
            "version": {
              "type": "string",
              "maxLength": 128
            },
            "server": {
              "type": "string",
              "maxLength": 2048
            },
            "namespace": {
              "type": "string",
              "maxLength": 253
            }
          }
        },
        "offers": {
          "description": "What the provider offers, as of the last login. A copy for reading.",
          "type": "array",
          "maxItems": 256,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": [
            "template"
          ],
          "items": {
            "type": "object",
            "required": [
              "template"
            ],
            "properties": {
              "template": {
                "type": "string",
                "minLength": 1,
                "maxLength": 253
              },
              "title": {
                "type": "string",
                "maxLength": 256
              },
              "description": {
                "type": "string",
                "maxLength": 4096
              },
              "scope": {
                "type": "string",
                "enum": [
                  "Cluster",
                  "Namespaced"
                ]
              },
              "resources": {
                "type": "array",
                "maxItems": 64,
                "items": {
                  "type": "object",
                  "required": [
                    "group",
                    "resource"
                  ],
                  "properties": {
                    "group": {
                      "type": "string",
                      "maxLength": 253
                    },
                    "resource": {
                      "type": "string",
                      "maxLength": 253
                    },
                    "versions": {
                      "type": "array",
                      "maxItems": 32,
                      "items": {
                        "type": "string",
                        "maxLength": 63
                      }
                    }
                  }
                }
              },
              "permissionClaims": {
                "type": "array",
                "maxItems": 32,
                "items": {
                  "type": "object",
                  "required": [
                    "group",
                    "resource"
                  ],
                  "properties": {
                    "group": {
                      "type": "string",
                      "maxLength": 253
                    },
                    "resource": {
                      "type": "string",
                      "maxLength": 253
                    },
                    "selector": {
                      "description": "The provider's selector, in short words.",
                      "type": "string",
                      "maxLength": 4096
                    }
                  }
                }
              }
            }
          }
        },
        "conditions": {
          "description": "What holds now. Every False condition says in its message what to do.",
          "type": "array",
          "maxItems": 32,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": [
            "type"
          ],
          "items": {
            "type": "object",
            "required": [
              "type",
              "status",
              "reason",
              "message",
              "lastTransitionTime"
            ],
            "properties": {
              "type": {
                "type": "string",
                "maxLength": 316
              },
              "status": {
                "type": "string",
                "enum": [
                  "True",
                  "False",
                  "Unknown"
                ]
              },
              "reason": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1024
              },
              "message": {
                "type": "string",
                "maxLength": 32768
              },
              "lastTransitionTime": {
                "type": "string",
                "format": "date-time"
              },
              "observedGeneration": {
                "type": "integer",
                "format": "int64",
                "minimum": 0
              }
            }
          }
        }
      }
    }
  }
} as const;

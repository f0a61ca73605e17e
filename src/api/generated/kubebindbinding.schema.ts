// Generated from apiresourceschemas/ by `make generate`. Do not edit.

export const KubeBindBindingSchema = {
  "description": "KubeBindBinding says that this workspace wants one API (or several that belong together) from a connection. While it is Ready, the API is served in the workspace like any other.",
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
      "required": [
        "connection"
      ],
      "x-kubernetes-validations": [
        {
          "rule": "has(self.template) != has(self.resources)",
          "message": "set exactly one of spec.template and spec.resources"
        },
        {
          "rule": "has(self.template) == has(oldSelf.template)",
          "message": "spec.template and spec.resources cannot be exchanged; create another binding"
        }
      ],
      "properties": {
        "connection": {
          "description": "Name of the KubeBindConnection.",
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "x-kubernetes-validations": [
            {
              "rule": "self == oldSelf",
              "message": "spec.connection is immutable; create another binding"
            }
          ]
        },
        "template": {
          "description": "Name of one of the connection's offers, or of an export that exists in the contract namespace.",
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "x-kubernetes-validations": [
            {
              "rule": "self == oldSelf",
              "message": "spec.template is immutable; create another binding"
            }
          ]
        },
        "resources": {
          "description": "APIs to ask for without a template.",
          "type": "array",
          "minItems": 1,
          "maxItems": 32,
          "x-kubernetes-validations": [
            {
              "rule": "self == oldSelf",
              "message": "spec.resources is immutable; create another binding"
            }
          ],
          "items": {
            "type": "object",
            "required": [
              "group",
              "resource",
              "versions"
            ],
            "properties": {
              "group": {
                "type": "string",
                "maxLength": 253
              },
              "resource": {
                "type": "string",
                "minLength": 1,
                "maxLength": 253
              },
              "versions": {
                "type": "array",
                "minItems": 1,
                "maxItems": 32,
                "items": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 63
                }
              }
            }
          }
        },
        "permissionClaims": {
          "description": "Consent to related resources. A claim that is not listed counts as Rejected.",
          "type": "array",
          "maxItems": 32,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": [
            "group",
            "resource"
          ],
          "items": {
            "type": "object",
            "required": [
              "group",
              "resource",
              "state"
            ],
            "properties": {
              "group": {
                "type": "string",
                "maxLength": 253
              },
              "resource": {
                "type": "string",
                "minLength": 1,
                "maxLength": 253
              },
              "state": {
                "type": "string",
                "enum": [
                  "Accepted",
                  "Rejected"
                ]
              }
            }
          }
        },
        "conflictPolicy": {
          "description": "What to do with an object of the same name that somebody else made on the provider.",
          "type": "string",
          "enum": [
            "Fail",
            "Adopt"
          ],
          "default": "Fail"
        },
        "deletionPolicy": {
          "description": "What becomes of the provider's copies when objects, or this binding, are deleted.",
          "type": "string",
          "enum": [
            "Delete",
            "Orphan"
          ],
          "default": "Delete"
        },
        "paused": {
          "description": "No object is written on either side while true.",
          "type": "boolean",
          "default": false
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
            "Binding",
            "Ready",
            "Degraded",
            "Paused",
            "Deleting"
          ]
        },
        "observedGeneration": {
          "type": "integer",
          "format": "int64",
          "minimum": 0
        },
        "apis": {
          "type": "array",
          "maxItems": 32,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": [
            "group",
            "resource"
          ],
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
              "kind": {
                "type": "string",
                "maxLength": 253
              },
              "scope": {
                "type": "string",
                "enum": [
                  "Cluster",
                  "Namespaced"
                ]
              },
              "versions": {
                "type": "array",
                "maxItems": 32,
                "items": {
                  "type": "string",
                  "maxLength": 63
                }
              },
              "schema": {
                "description": "Name of the APIResourceSchema that serves it.",
                "type": "string",
                "maxLength": 512
              }
            }
          }
        },
        "apiExport": {
          "type": "object",
          "properties": {
            "path": {
              "type": "string",
              "maxLength": 2048
            },
            "name": {
              "type": "string",
              "maxLength": 253
            }
          }
        },
        "apiBinding": {
          "type": "string",
          "maxLength": 253
        },
        "sync": {
          "type": "object",
          "properties": {
            "objects": {
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "pending": {
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "failing": {
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "lastSyncTime": {
              "type": "string",
              "format": "date-time"
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

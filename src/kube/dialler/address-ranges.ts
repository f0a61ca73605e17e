/**
 * Ranges that lead into somebody's own network, or nowhere, with what the error message calls them. Source:
 * the special-purpose address registries of IANA, and the addresses of cloud metadata services.
 */
export const GUARDED_RANGES: readonly (readonly [cidr: string, what: string])[] = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared (carrier-grade NAT)'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local or metadata'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'special-purpose'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', 'relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmark'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved or broadcast'],
  // Public, but Azure answers it with the host's metadata.
  ['168.63.129.16/32', 'metadata'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::ffff:0:0/96', 'IPv4-mapped'],
  // Each of these can carry any IPv4 address behind a translator or a relay.
  ['::/96', 'IPv4-compatible'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'NAT64'],
  ['2001::/32', 'Teredo relay'],
  ['2002::/16', '6to4 relay'],
  ['100::/64', 'discard-only'],
  ['2001:db8::/32', 'documentation'],
  ['fc00::/7', 'unique local'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
];

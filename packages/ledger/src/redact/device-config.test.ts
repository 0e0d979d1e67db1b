import { expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')

test.each([
  ['enable secret 0 Quiver88basil', 'Quiver88basil'],
  ['username kim privilege 15 secret 9 $9$nhEmQVczB7dqsO$X.HsgL6x1il0RxkOSSvyQYwucy', 'nhEmQVczB7dqsO'],
  ['snmp-server community topsecretro RO', 'topsecretro'],
  ['snmp-server host 10.1.1.1 version 2c m0nit0rNet', 'm0nit0rNet'],
  ['snmpget -v3 -u mon -a SHA -A authPass991 -x AES -X privPass882 host1', 'privPass882'],
  ['tacacs-server key 7 0822455D0A16544541', '0822455D0A16544541'],
  ['radius-server host 10.0.0.5 auth-port 1812 acct-port 1813 key r4diusShared', 'r4diusShared'],
  ['crypto isakmp key Vpn5ecretKey address 203.0.113.9', 'Vpn5ecretKey'],
  [' key-string ospfKey2291', 'ospfKey2291'],
  ['ip ospf message-digest-key 1 md5 0spfPazz', '0spfPazz'],
  ['set security ike policy p1 pre-shared-key ascii-text "ikeShared44x"', 'ikeShared44x'],
  ['wpa-psk ascii 0 GuestWifi2291', 'GuestWifi2291'],
  ['password cipher Huawei@123x', 'Huawei@123x'],
  ['radius server ISE-1\n address ipv4 10.1.1.20 auth-port 1812\n key f1reW!re_x\n', 'f1reW!re_x'],
  ['edit 10.20.30.40\n    set psksecret Copper-Kite\n', 'Copper-Kite'],
  ['interface Gi0/1\n ip ospf message-digest-key 1 md5 GlassOtter\n', 'GlassOtter'],
])('P1 the secret of a device: %s', (text, secret) => {
  const out = redactor.text(text)
  expect(out).not.toContain(secret)
  expect(redactor.text(out)).toBe(out)
})

test.each([
  'snmp-server enable traps snmp authentication linkdown linkup',
  'The pre-shared-key option is deprecated since v4.2; use certificates.',
  'show crypto key mypubkey rsa',
  'The community edition 4.2.1 has no SSO.',
  'A secret 3 people share is no secret.',
])('P1 other words of devices stay: %s', (text) => {
  expect(redactor.text(text)).toBe(text)
})

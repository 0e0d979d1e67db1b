import { expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const SESSION = 'q7Tz0Rk3vXw9Lm2Bn5Yc8Hd1'

test.each([
  `{"name":"sid","value":"${SESSION}"}`,
  `{"cookies":[{"name":"li_at","value":"${SESSION}","domain":".example.org","path":"/"}]}`,
  `[{\n  "name": "user_session",\n  "value": "${SESSION}",\n  "secure": true\n}]`,
  `requests.get(url, cookies={"lang": "de", "JSESSIONID": "${SESSION}", "other.one": "${SESSION}"})`,
  `Request cookies: {'sessionid': '${SESSION}', 'django_language': 'fr'}`,
  `document.cookie\n"lang=de; sid=${SESSION}; consent=all"`,
  `"_ga=GA1.1.263744268.6986177712; OSTSESSID=${SESSION}; sidebar=open"`,
  `#HttpOnly_.example.org\tTRUE\t/\tTRUE\t1790000000\t_gitlab_session\t${SESSION}`,
])('P1 a session is found where a browser keeps it: %s', (text) => {
  const out = redactor.text(text)
  expect(out).not.toContain(SESSION)
  expect(out.replaceAll(/\[redacted:[^\]]*\]/g, SESSION)).toBe(text)
  const stream = redactor.stream()
  expect(Array.from(text, (char) => stream.push(char)).join('') + stream.end()).toBe(out)
})

test('P1 a cookie in a value is told by the host beside it', () => {
  const cookie = { name: 'li_at', value: SESSION, domain: '.example.org' }
  expect(JSON.stringify(redactor.value({ cookies: [cookie] }).value)).not.toContain(SESSION)
})

test.each([
  '{"name":"theme","value":"dark","domain":".example.org"}',
  '{"name":"_ga","value":"GA1.2.1234567890.1699999999","domain":".example.org"}',
  '{"name":"deploy-run","value":"8f14e45f-ceea-467f-a0e6-0242ac120002"}',
  'cookies: {}',
])('P1 what is no session stays: %s', (text) => {
  expect(redactor.text(text)).toBe(text)
})

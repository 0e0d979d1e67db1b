/**
 * Up to the last @ without a space before it: a / or @ of the password may not be encoded. The word PASSWORD is that of
 * examples such as postgres://USER:PASSWORD@HOST.
 */
const USER_PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s:@/?#]*):(?!PASSWORD@)\S*@/gi
const PARAMETER = /([?&][\w.-]*(?:pass|pwd|secret|token|key)[\w.-]*=)[^\s&#'"]+/gi

/** A text for people with `***` in place of the passwords of its URLs. */
export const hidePasswords = (text: string): string =>
  text.replaceAll(USER_PASSWORD, '$1:***@').replaceAll(PARAMETER, '$1***')

/** Without a secure context there is no clipboard; then the text is offered for copying by hand. */
export async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) await navigator.clipboard.writeText(text)
  else prompt('Copy with your keyboard:', text)
}

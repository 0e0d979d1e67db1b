/** `1,234,567`, as `toLocaleString('en-US')` writes it, whose first call costs more than all else that a small command does. */
export const formatCount = (count: number): string =>
  String(count).replaceAll(/(?<!\.\d*)\B(?=(?:\d{3})+(?!\d))/g, ',')

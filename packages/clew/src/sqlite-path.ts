/** The path in `sqlite:PATH`; undefined for any other URL. */
export const sqlitePath = (url: string): string | undefined => /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1]

/** What no record can hold, and no codec is written for: what is still to come, what is bound to this process, and code. */
type Unstorable =
  | ((...given: never[]) => unknown)
  | symbol
  | Promise<unknown>
  | Response
  | Request
  | ReadableStream
  | WritableStream
  | AbortSignal
  | WeakMap<object, unknown>
  | WeakSet<object>

type IsAny<Value> = 0 extends 1 & Value ? true : false

/** Items and properties. Methods do not count: an instance may have a codec. */
type PartOf<Value> = Value extends readonly (infer Item)[]
  ? IsAny<Item> extends true
    ? never
    : Item
  : Value extends object
    ? Exclude<Value[keyof Value], (...given: never[]) => unknown>
    : never

/**
 * Part of the type of a function whose result is recorded: `unknown` if that can be stored, as far as its type says, else a type
 * that nothing has, with what is wrong. Code that is generic in the result passes it on: `fn: (() => T) & IfStorable<T>`.
 */
export type IfStorable<Value> =
  IsAny<Value> extends true
    ? unknown
    : [Extract<Value | PartOf<Value>, Unstorable>] extends [never]
      ? unknown
      : { readonly 'the result cannot be stored': Extract<Value | PartOf<Value>, Unstorable> }

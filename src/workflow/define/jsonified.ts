// What JSON gives back for a value: the type of outputs as children, `result()` and a replayed step see them. Types only.

/** Dates and whatever has toJSON as that makes them, undefined as null, methods and symbols left out; bigint cannot be. */
export type Jsonified<T> = T extends string | number | boolean | null
  ? T
  : T extends { toJSON(): infer J }
    ? Jsonified<J>
    : T extends undefined | void
      ? null
      : T extends bigint | symbol | ((...given: never[]) => unknown)
        ? never
        : T extends readonly unknown[]
          ? { [K in keyof T]: Jsonified<T[K]> }
          : T extends object
            ? { [K in keyof T as T[K] extends ((...given: never[]) => unknown) | symbol ? never : K]: Jsonified<T[K]> }
            : T

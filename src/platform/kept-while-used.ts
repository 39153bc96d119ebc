interface Limits<T> {
  /** What is not asked for in so long goes, after at most twice that. */
  unusedMs: number;
  sizeOf: (value: T) => number;
  /** Of all together: beyond it what was asked for longest ago goes. */
  most: number;
}

/** A value for each key, which may grow, for as long as somebody asks for it. */
export function keptWhileUsed<T>(make: () => T, { unusedMs, sizeOf, most }: Limits<T>): (key: string) => T {
  /** What was asked for last stands last. */
  const held = new Map<string, { value: T; isUsed: boolean }>();
  let timer: NodeJS.Timeout | undefined;
  const shrink = () => {
    let total = 0;
    for (const [key, { value }] of [...held].reverse()) {
      total += sizeOf(value);
      if (total > most) held.delete(key);
    }
  };
  const sweep = () => {
    for (const [key, one] of held) {
      if (!one.isUsed) held.delete(key);
      one.isUsed = false;
    }
    shrink();
    if (held.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (key) => {
    const known = held.get(key);
    if (known === undefined) shrink();
    const one = known ?? { value: make(), isUsed: true };
    one.isUsed = true;
    held.delete(key);
    held.set(key, one);
    timer ??= setInterval(sweep, unusedMs).unref();
    return one.value;
  };
}

/** Counts what is open at once in this process, where it costs. */
export interface Places {
  /** @returns the function that gives the place back; null when there is none. */
  take(key: string): (() => void) | null;
}

/** @param most of all keys together, and of each. */
export function createPlaces(most: { all: number; each: number }): Places {
  const open = new Map<string, number>();
  let all = 0;
  return {
    take(key) {
      const here = open.get(key) ?? 0;
      if (all >= most.all || here >= most.each) return null;
      open.set(key, here + 1);
      all += 1;
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        const left = (open.get(key) ?? 1) - 1;
        if (left === 0) open.delete(key);
        else open.set(key, left);
        all -= 1;
      };
    },
  };
}

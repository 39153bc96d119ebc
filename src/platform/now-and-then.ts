/** Does it at once, and then no more often than so; what is asked for in between is left out. */
export function nowAndThen(act: () => void, everyMs: number): () => void {
  let doneAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - doneAt < everyMs) return;
    doneAt = performance.now();
    act();
  };
}

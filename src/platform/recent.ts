/** Answers that are reused for a moment, for what is asked over and over. */
export type Recent<T> = (key: string, read: () => Promise<T>) => Promise<T>;

/** @param most keys at once: with one more, all are forgotten. */
export function createRecent<T>(freshMs: number, most: number): Recent<T> {
  const known = new Map<string, { until: number; answer: Promise<T> }>();
  return (key, read) => {
    const now = performance.now();
    const recent = known.get(key);
    if (recent !== undefined && recent.until > now) return recent.answer;
    if (known.size >= most) known.clear();
    const answer = read();
    known.set(key, { until: now + freshMs, answer });
    answer.catch(() => known.delete(key));
    return answer;
  };
}

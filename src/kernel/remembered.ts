/**
 * What a function without side effects answered, for what is asked over and over. What it throws is thrown anew each time.
 *
 * @param most answers: with one more, all are forgotten.
 */
export function remembered<T extends object | string>(
  most: number,
  read: (key: string) => T,
): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const answer = read(key);
    if (known.size >= most) known.clear();
    known.set(key, answer);
    return answer;
  };
}

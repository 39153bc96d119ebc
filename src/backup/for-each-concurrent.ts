/**
 * Processes items of the source, at most `width` concurrently; after a failure it starts no new ones and
 * rejects when all have ended.
 */
export async function forEachConcurrent<T>(
  source: AsyncGenerator<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const lane = async () => {
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      if (failures.length > 0) return;
      await work(next.value);
    }
  };
  const lanes = Array.from({ length: width }, () => lane().catch((error) => void failures.push(error)));
  await Promise.all(lanes);
  if (failures.length > 0) throw failures[0];
}

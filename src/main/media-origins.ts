import type { BlobStore } from '../media/contract/index.ts';

const SAMPLE_SEC = 60;

/** The origins besides this one that pictures and media are redirected to: those of a store outside, if it is one. */
export async function mediaOriginsOf(store: Pick<BlobStore, 'signedUrl'>): Promise<string[]> {
  const sample = await store.signedUrl('origin', SAMPLE_SEC);
  return sample === null ? [] : [new URL(sample).origin];
}

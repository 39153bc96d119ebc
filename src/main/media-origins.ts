import type { BlobStore } from '../media/contract/index.ts';

const SAMPLE_SEC = 60;

/**
 * Returns the additional origins that images and media are redirected to: that of an external store, if
 * configured.
 */
export async function mediaOriginsOf(store: Pick<BlobStore, 'signedUrl'>): Promise<string[]> {
  const sample = await store.signedUrl('origin', SAMPLE_SEC);
  return sample === null ? [] : [new URL(sample).origin];
}

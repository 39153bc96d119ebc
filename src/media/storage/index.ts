import { join } from 'node:path';
import type { BlobStore } from '../contract/index.ts';
import { createDiskStore } from './disk.ts';
import { createS3Store } from './s3.ts';

interface StorageConfig {
  DATA_DIR: string;
  S3_BUCKET: string | undefined;
  S3_ENDPOINT: string | undefined;
  S3_REGION: string;
  S3_ACCESS_KEY_ID: string | undefined;
  S3_SECRET_ACCESS_KEY: string | undefined;
  S3_PATH_STYLE: boolean;
  S3_PREFIX: string;
  S3_SIGNED_URLS: boolean;
}

/**
 * Where media files are kept (docs/decisions/storage-and-quota.md#keys): the bucket `S3_BUCKET`, or
 * `DATA_DIR/media`.
 */
export function createBlobStore(config: StorageConfig): BlobStore {
  const root = join(config.DATA_DIR, 'media');
  if (config.S3_BUCKET === undefined) return createDiskStore(root);
  return createS3Store({
    bucket: config.S3_BUCKET,
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    accessKeyId: config.S3_ACCESS_KEY_ID,
    secretAccessKey: config.S3_SECRET_ACCESS_KEY,
    pathStyle: config.S3_PATH_STYLE,
    prefix: config.S3_PREFIX,
    signUrls: config.S3_SIGNED_URLS,
    tmpDir: join(root, '.tmp'),
  });
}

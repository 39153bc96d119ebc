import { join, resolve } from 'node:path';
import type { BlobStore } from '../contract/index.ts';
import { createDiskStore } from './disk.ts';

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

/** Opens an additional store: a folder, or a bucket with the service and credentials of the configuration. */
export async function openStoreAt(address: string, config: StorageConfig): Promise<BlobStore> {
  const found = /^s3:\/\/([^/]+)(?:\/+(.*?))?\/*$/.exec(address);
  if (found === null) return createDiskStore(resolve(address));
  const [, bucket = '', prefix = ''] = found;
  return s3Store(config, bucket, prefix === '' ? '' : `${prefix}/`);
}

/**
 * Opens the store of media files (docs/decisions/storage-and-quota.md#keys): the bucket `S3_BUCKET`, or
 * `DATA_DIR/media`.
 */
export async function openBlobStore(config: StorageConfig): Promise<BlobStore> {
  if (config.S3_BUCKET === undefined) return createDiskStore(join(config.DATA_DIR, 'media'));
  return s3Store(config, config.S3_BUCKET, config.S3_PREFIX);
}

async function s3Store(config: StorageConfig, bucket: string, prefix: string): Promise<BlobStore> {
  // Loaded only with a bucket: importing the SDK takes a tenth of a second.
  const { createS3Store } = await import('./s3.ts');
  return createS3Store({
    bucket,
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    accessKeyId: config.S3_ACCESS_KEY_ID,
    secretAccessKey: config.S3_SECRET_ACCESS_KEY,
    pathStyle: config.S3_PATH_STYLE,
    prefix,
    signUrls: config.S3_SIGNED_URLS,
    tmpDir: join(config.DATA_DIR, 'media', '.tmp'),
  });
}

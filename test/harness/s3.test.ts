import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { NO_S3, startS3 } from './s3.ts';

const s3 = await startS3();
const skip = s3 === null && NO_S3;
const Bucket = s3?.bucket ?? '';
const client = new S3Client({
  endpoint: s3?.endpoint ?? 'http://127.0.0.1:1',
  region: s3?.region ?? 'none',
  credentials: { accessKeyId: s3?.accessKeyId ?? '', secretAccessKey: s3?.secretAccessKey ?? '' },
  forcePathStyle: true,
});

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');
const keysBelow = async (Prefix: string) =>
  ((await client.send(new ListObjectsV2Command({ Bucket, Prefix }))).Contents ?? []).map(({ Key }) => Key);

after(async () => {
  client.destroy();
  await s3?.close();
});

test('S3: an object is stored, read in part, described and removed', { skip }, async () => {
  const Key = 'w/one/v/two/r1a1/720p/segment_00001.m4s';
  const Body = randomBytes(100_000);
  const put = await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'video/mp4' }));
  assert.equal(put.ETag, `"${md5(Body)}"`);
  const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
  assert.deepEqual([head.ContentLength, head.ContentType], [100_000, 'video/mp4']);
  const part = await client.send(new GetObjectCommand({ Bucket, Key, Range: 'bytes=10-19' }));
  assert.equal(part.ContentRange, 'bytes 10-19/100000');
  assert.deepEqual(Buffer.from((await part.Body?.transformToByteArray()) ?? []), Body.subarray(10, 20));

  const address = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), { expiresIn: 60 });
  const signed = await fetch(address, { headers: { range: 'bytes=99990-' } });
  assert.equal(signed.status, 206);
  assert.deepEqual(Buffer.from(await signed.arrayBuffer()), Body.subarray(99_990));
  assert.equal((await fetch(address.replace(/Signature=..../, 'Signature=0000'))).status, 403);

  await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key }, { Key: 'w/none' }] } }));
  await assert.rejects(client.send(new HeadObjectCommand({ Bucket, Key })), { name: 'NotFound' });
});

test('S3: a list is sorted and paginated', { skip }, async () => {
  const keys = ['list/a', 'list/b/c', 'list/b.d', 'list/e'];
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
  assert.deepEqual(await keysBelow('list/'), keys.toSorted());
  assert.deepEqual(await keysBelow('list/b/'), ['list/b/c']);
  const first = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'list/', MaxKeys: 3 }));
  assert.equal(first.IsTruncated, true);
  const ContinuationToken = first.NextContinuationToken;
  const rest = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'list/', ContinuationToken }));
  assert.deepEqual(
    rest.Contents?.map(({ Key }) => Key),
    ['list/e'],
  );
});

test('S3: an object in parts appears when it is complete', { skip }, async () => {
  const Key = 'parts/original';
  const parts = [randomBytes(5 * 2 ** 20), randomBytes(1000)];
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  for (const [index, Body] of parts.entries()) {
    const PartNumber = index + 1;
    const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
    assert.equal(ETag, `"${md5(Body)}"`);
  }
  const listed = (await client.send(new ListPartsCommand({ Bucket, Key, UploadId }))).Parts ?? [];
  assert.deepEqual(
    listed.map(({ PartNumber, Size }) => [PartNumber, Size]),
    [
      [1, 5 * 2 ** 20],
      [2, 1000],
    ],
  );
  assert.deepEqual(await keysBelow('parts/'), []);
  const Parts = listed.map(({ PartNumber, ETag }) => ({ PartNumber, ETag }));
  const done = await client.send(
    new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
  );
  const sums = Buffer.concat(parts.map((part) => createHash('md5').update(part).digest()));
  assert.equal(done.ETag, `"${md5(sums)}-2"`);
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  assert.deepEqual(Buffer.from((await Body?.transformToByteArray()) ?? []), Buffer.concat(parts));
});

test('S3: aborted parts are deleted', { skip }, async () => {
  const Key = 'aborted/original';
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: 'x' }));
  const open = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'aborted/' }));
  assert.deepEqual(
    open.Uploads?.map((upload) => upload.UploadId),
    [UploadId],
  );
  await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  await assert.rejects(client.send(new ListPartsCommand({ Bucket, Key, UploadId })), {
    name: 'NoSuchUpload',
  });
});

import { api } from '../../../app/api.ts';
import { ApiError } from '../../../app/api-error.ts';
import type { Shape } from '../../../app/shape.ts';
import { findUpload, forgetUpload, rememberUpload } from './fingerprints.ts';
import { items, type UploadItem } from './items.ts';

const MAX_TITLE = 200;
const MAX_FILENAME = 255;

/**
 * Returns the upload session of a file: the one that the item names, else the one used before for the file,
 * else that of a new draft, or of the replacement. A draft is private, so it is not visible before it is
 * published.
 */
export async function sessionFor(item: UploadItem): Promise<Shape<'Upload'>> {
  const known = item.uploadId ?? findUpload(item.fingerprint);
  const found = known === null ? null : await findSession(known);
  if (found !== null && isOpen(found) && isFor(found, item)) {
    rememberUpload(item.fingerprint, found.id);
    return found;
  }
  if (known !== null) forgetUpload(known);
  if (item.uploadId !== null) {
    throw new ApiError({ status: 410, code: 'UPLOAD_EXPIRED', message: 'The upload has ended.' });
  }
  return item.replaces && item.videoId !== null ? replace(item, item.videoId) : createDraft(item);
}

/**
 * Reports whether a session matches the item's purpose; the file may also have been uploaded for another one.
 */
function isFor({ replaces, videoId }: Shape<'Upload'>, item: UploadItem): boolean {
  return replaces === item.replaces && (!replaces || videoId === item.videoId);
}

function isOpen({ status }: Shape<'Upload'>): boolean {
  return status === 'WAITING' || status === 'UPLOADING' || status === 'COMPLETED';
}

async function findSession(id: string): Promise<Shape<'Upload'> | null> {
  try {
    const { data } = await api.GET('/upload/{id}', { params: { path: { id } } });
    return data?.data ?? null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

async function createDraft({ file, fingerprint, retries }: UploadItem): Promise<Shape<'Upload'>> {
  // The response to the previous attempt may have been lost; do not create a second draft of the file.
  const lost = retries === 0 ? undefined : await findLost(file);
  if (lost !== undefined) {
    return begun(fingerprint, lost);
  }
  const { data } = await api.POST('/videos', {
    body: { title: titleOf(file.name), visibility: 'PRIVATE', ...announced(file) },
  });
  return begun(fingerprint, data?.data.upload);
}

async function replace({ file, fingerprint, retries }: UploadItem, id: string): Promise<Shape<'Upload'>> {
  const params = { path: { id } };
  if (retries > 0) {
    // The previous attempt may have created it, as with a draft.
    const video = await api.GET('/videos/{id}', { params });
    const known = video.data?.data.replacement?.status === 'UPLOADING' ? video.data.data.replacement : null;
    const uploadId = known?.uploadId ?? null;
    const lost = uploadId === null ? null : await findSession(uploadId);
    if (lost !== null && lost.sizeBytes === file.size && lost.receivedBytes === 0)
      return begun(fingerprint, lost);
  }
  const { data } = await api.POST('/videos/{id}/replacement', { params, body: announced(file) });
  return begun(fingerprint, data?.data.upload ?? undefined);
}

function announced(file: File) {
  return {
    filename: file.name.slice(-MAX_FILENAME),
    sizeBytes: file.size,
    ...(file.type === '' ? {} : { mimeType: file.type }),
  };
}

function begun(fingerprint: string, upload: Shape<'Upload'> | undefined): Shape<'Upload'> {
  if (upload === undefined) throw new ApiError({ status: 0, code: 'UNEXPECTED', message: '' });
  rememberUpload(fingerprint, upload.id);
  return upload;
}

/** Finds a session without bytes for a file of this name and size that no other item uses. */
async function findLost({ name, size }: File): Promise<Shape<'Upload'> | undefined> {
  const { data } = await api.GET('/upload', { params: { query: { status: ['WAITING'], limit: 100 } } });
  const taken = new Set(items.get().map(({ uploadId }) => uploadId));
  return data?.data.find(
    ({ id, filename, sizeBytes }) => filename === name && sizeBytes === size && !taken.has(id),
  );
}

/** The name of the file without its extension. */
function titleOf(name: string): string {
  const title = name.replace(/[.][^.]{1,5}$/, '').trim();
  return (title === '' ? name : title).slice(0, MAX_TITLE);
}

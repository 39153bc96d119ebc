import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../kernel/errors.ts';
import type { UploadedFile } from '../context.ts';
import type { Upload } from '../route.ts';

/** Lets the endpoints of this scope take `multipart/form-data`; everywhere else it is 415. */
export async function acceptUploads(scope: FastifyInstance): Promise<void> {
  await scope.register(multipart, {
    limits: { files: 1, fields: 10, parts: 11, fieldSize: 1024, headerPairs: 20 },
  });
}

/**
 * The file of a multipart body; null when the body is none.
 *
 * @throws {AppError} PAYLOAD_TOO_LARGE or BAD_REQUEST, both with the field of the file.
 */
export async function readUpload(
  request: FastifyRequest,
  { field, maxBytes }: Upload,
): Promise<UploadedFile | null> {
  if (!request.isMultipart()) return null;
  try {
    const part = await request.file({ limits: { fileSize: maxBytes } });
    if (part?.fieldname === field) return { bytes: await part.toBuffer() };
  } catch (error) {
    throw toUploadError(error, field, maxBytes);
  }
  throw badRequest(field, `The multipart body needs a file in its first file part, named ${field}.`);
}

function toUploadError(error: unknown, field: string, maxBytes: number): AppError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_REQ_FILE_TOO_LARGE') {
    return new AppError('PAYLOAD_TOO_LARGE', {
      field,
      message: `The file is longer than ${maxBytes} bytes.`,
    });
  }
  const internal = error instanceof Error ? error.message : String(error);
  return new AppError('BAD_REQUEST', { field, message: 'The multipart body is malformed.', internal });
}

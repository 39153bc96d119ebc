import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../kernel/errors.ts';
import type { UploadedFile } from '../context.ts';
import type { Upload } from '../route.ts';
import { assertNoInvalidText } from '../validation.ts';

/** Lets the endpoints of this scope take `multipart/form-data`; everywhere else it is 415. */
export async function acceptUploads(scope: FastifyInstance): Promise<void> {
  await scope.register(multipart, {
    limits: { files: 1, fields: 10, parts: 11, fieldSize: 1024, headerPairs: 20 },
  });
}

/** A multipart body: its file, and its other fields, which stand for the members of a JSON body. */
interface Multipart {
  file: UploadedFile;
  fields: Record<string, string>;
}

/**
 * The file and the fields of a multipart body; null when the body is none.
 *
 * @throws {AppError} PAYLOAD_TOO_LARGE or BAD_REQUEST, both with the field of the file.
 */
export async function readUpload(
  request: FastifyRequest,
  { field, maxBytes }: Upload,
): Promise<Multipart | null> {
  if (!request.isMultipart()) return null;
  const read: { file: UploadedFile | null; fields: [string, string][] } = { file: null, fields: [] };
  try {
    for await (const part of request.parts({ limits: { fileSize: maxBytes } })) {
      if (part.type === 'field') read.fields.push([part.fieldname, String(part.value)]);
      else if (part.fieldname !== field) break;
      else read.file = { bytes: await part.toBuffer() };
    }
  } catch (error) {
    throw toUploadError(error, field, maxBytes);
  }
  if (read.file === null) {
    throw badRequest(field, `The first file part of the multipart body must be a file named ${field}.`);
  }
  const fields = Object.fromEntries(read.fields);
  assertNoInvalidText(JSON.stringify(fields), fields);
  return { file: read.file, fields };
}

function toUploadError(error: unknown, field: string, maxBytes: number): AppError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_REQ_FILE_TOO_LARGE') {
    return new AppError('PAYLOAD_TOO_LARGE', {
      field,
      message: `The file exceeds ${maxBytes} bytes.`,
    });
  }
  const internal = error instanceof Error ? error.message : String(error);
  return new AppError('BAD_REQUEST', { field, message: 'The multipart body is malformed.', internal });
}

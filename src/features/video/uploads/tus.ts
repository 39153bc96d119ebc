import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { defineRoute } from '../../../http/route.ts';
import { compileInput } from '../../../http/validation.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { MAX_FILE_BYTES } from '../../../kernel/plans.ts';
import { DigestMismatchError } from '../../../media/contract/index.ts';
import type { UploadPart } from './progress.ts';
import type { UploadRow } from './repository.ts';
import { toRequestBody } from './request-body.ts';
import { CREATION } from './routes.ts';
import * as rules from './rules.ts';
import { TusCreation } from './schemas.ts';
import type { Uploads } from './service.ts';
import type { UploadOffset } from './transfer.service.ts';
import { allowAnyOrigin, answerPreflight, METHODS, restrictOrigin } from './tus-cors.ts';

/**
 * Endpoint that receives bytes: `PUBLIC_URL/uploads/<token>` by tus 1.0 or one PUT, and tus creations at
 * `PUBLIC_URL/uploads` with an API key (docs/concepts/uploads.md).
 *
 * The protocol is implemented here instead of with `@tus/server`, which has no checksum extension and no PUT,
 * counts the expiration from the creation, lets a second writer wait until the first has timed out, and
 * copies bodies through web streams; little more than parsing a dozen headers would remain of it.
 */

const TUS = '1.0.0';
const OFFSET_STREAM = 'application/offset+octet-stream';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const TUS_OPTIONS = {
  'Tus-Version': TUS,
  'Tus-Extension': 'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum',
  'Tus-Max-Size': String(MAX_FILE_BYTES),
  'Tus-Checksum-Algorithm': rules.CHECKSUM_ALGORITHMS.join(','),
};
const CHECKSUM_MISMATCH = 460;
/** Time for which the rest of a rejected body is read, so that the client receives the response. */
const LINGER_MS = 3000;

type TokenRequest = FastifyRequest<{ Params: { token: string } }>;

export function tusEndpoint({ uploads }: { uploads: Uploads }): (app: FastifyInstance) => void {
  return (app) => {
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
      // This hook runs last, so that browser-based tus clients can read rejected key checks, too.
      scope.addHook('onSend', (_request, reply, payload, done) => {
        allowAnyOrigin(reply);
        reply.headers({ 'Tus-Resumable': TUS, 'Cache-Control': 'no-store' });
        done(null, payload);
      });
      scope.addHook('onResponse', (request, _reply, done) => {
        linger(request);
        done();
      });
      scope.addHook('preClose', (done) => {
        uploads.transfers.stop();
        done();
      });
      acceptCreations(scope, uploads);
      acceptUploads(scope, uploads);
    });
  };
}

/** Registers tus creation, for clients that can send a key. */
function acceptCreations(scope: FastifyInstance, uploads: Uploads): void {
  const validate = compileInput(TusCreation, 'body');
  // The policy of POST /upload; never mounted as an endpoint of its own.
  const route = defineRoute({ ...CREATION, body: TusCreation, handler: () => Promise.reject(notFound()) });
  scope.options('/uploads', { config: CONFIG }, async (_request, reply) => {
    answerPreflight(reply);
    return reply.status(204).headers(TUS_OPTIONS).send();
  });
  scope.post('/uploads', { config: { ...CONFIG, route } }, async (request, reply) => {
    if (!speaksTus(request)) return otherVersion(reply);
    const { caller } = request;
    if (caller === null) throw new AppError('UNAUTHORIZED');
    if (request.headers['upload-concat'] !== undefined) {
      throw badRequest(
        'Upload-Concat',
        'Concatenated uploads are not supported. Send the file in one upload.',
      );
    }
    const row = await uploads.create(caller, validate(creationOf(request)));
    reply.header('Location', uploads.urlOf(row));
    if (!isOffsetStream(request)) return answer(reply, 201, { row, offset: 0 });
    return receive(uploads, reply, 201, row, { ...tusPiece(request), offset: 0, totalBytes: null });
  });
}

const CONFIG = { cors: false, streams: true } as const;

function acceptUploads(scope: FastifyInstance, uploads: Uploads): void {
  const { transfers } = uploads;
  const find = async (request: TokenRequest, reply: FastifyReply): Promise<UploadRow> => {
    if (!TOKEN.test(request.params.token)) throw notFound();
    const row = await transfers.find(request.params.token);
    restrictOrigin(request, reply, row.cors_origin);
    return row;
  };
  const tus = async (request: TokenRequest, reply: FastifyReply, method: string) => {
    if (!speaksTus(request)) return otherVersion(reply);
    const row = await find(request, reply);
    switch (method) {
      case 'HEAD':
        return answer(reply, 200, await transfers.reached(row));
      case 'DELETE':
        await transfers.cancel(row);
        return reply.status(204).send();
      case 'PATCH':
        return receive(uploads, reply, 204, row, tusPiece(request));
      default:
        throw otherMethod();
    }
  };
  // Browsers send GET when the URL is opened directly.
  scope.get('/uploads/:token', { config: CONFIG, exposeHeadRoute: false }, () => {
    throw otherMethod();
  });
  scope.route<{ Params: { token: string } }>({
    method: ['HEAD', 'PATCH', 'DELETE', 'POST'],
    url: '/uploads/:token',
    config: CONFIG,
    handler(request, reply) {
      // Supports clients that cannot send PATCH or DELETE (tus 1.0, "X-HTTP-Method-Override").
      const override = request.headers['x-http-method-override'];
      return tus(request, reply, override === undefined ? request.method : String(override).toUpperCase());
    },
  });
  scope.put('/uploads/:token', { config: CONFIG }, async (request: TokenRequest, reply) => {
    const row = await find(request, reply);
    const piece = putPiece(request, row);
    return piece === null
      ? answerRange(reply, await transfers.reached(row))
      : receive(uploads, reply, 204, row, piece);
  });
  scope.options('/uploads/:token', { config: CONFIG }, async (request: TokenRequest, reply) => {
    await find(request, reply);
    answerPreflight(reply);
    return reply.status(204).headers(TUS_OPTIONS).send();
  });
}

/** Checks the client's tus version; without the header it is not a tus client. */
function speaksTus(request: FastifyRequest): boolean {
  return request.headers['tus-resumable'] === TUS;
}

function otherMethod(): AppError {
  return new AppError('METHOD_NOT_ALLOWED', { headers: { Allow: METHODS } });
}

function isOffsetStream({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.toLowerCase() === OFFSET_STREAM;
}

function otherVersion(reply: FastifyReply): FastifyReply {
  const error = badRequest('Tus-Resumable', `Send "Tus-Resumable: ${TUS}".`);
  return reply.status(412).header('Tus-Version', TUS).send(error.body());
}

async function receive(
  uploads: Uploads,
  reply: FastifyReply,
  status: number,
  row: UploadRow,
  piece: UploadPart,
): Promise<FastifyReply> {
  try {
    return answer(reply, status, await uploads.transfers.receive(row, piece));
  } catch (error) {
    if (!(error instanceof DigestMismatchError)) throw error;
    const refusal = badRequest('Upload-Checksum', 'Checksum mismatch. The data was discarded.');
    return reply.status(CHECKSUM_MISMATCH).send(refusal.body());
  }
}

/** Sends the offset of the upload in tus format. */
function answer(reply: FastifyReply, status: number, { row, offset }: UploadOffset): FastifyReply {
  reply.header('Upload-Offset', String(offset));
  if (row.size_bytes === null) reply.header('Upload-Defer-Length', '1');
  else reply.header('Upload-Length', String(row.size_bytes));
  if (row.ended_at === null) reply.header('Upload-Expires', row.expires_at.toUTCString());
  return reply.status(status).send();
}

/** Answers a PUT that queries the offset: 308 with the stored range, 204 when the file is complete. */
function answerRange(reply: FastifyReply, reached: UploadOffset): FastifyReply {
  if (reached.offset > 0) reply.header('Range', `bytes=0-${reached.offset - 1}`);
  return answer(reply, reached.offset === reached.row.size_bytes ? 204 : 308, reached);
}

function tusPiece(request: FastifyRequest): UploadPart {
  const { headers } = request;
  if (!isOffsetStream(request)) {
    const message = `Send the bytes as ${OFFSET_STREAM}.`;
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { field: 'Content-Type', message });
  }
  const offset = rules.byteCount('Upload-Offset', headers['upload-offset']);
  if (offset === null && request.method !== 'POST')
    throw badRequest('Upload-Offset', 'Upload-Offset is missing.');
  return {
    protocol: 'TUS',
    offset,
    totalBytes: rules.byteCount('Upload-Length', headers['upload-length']),
    pieceBytes: rules.byteCount('Content-Length', headers['content-length']),
    digest: rules.parseChecksum(headers['upload-checksum']),
    body: toRequestBody(request.raw),
  };
}

/** @returns null for an offset query: `Content-Range` without a start. */
function putPiece(request: FastifyRequest, row: UploadRow): UploadPart | null {
  const { headers } = request;
  const range = rules.parseContentRange(headers['content-range']);
  if (range !== null && range.start === null) return null;
  const length = rules.byteCount('Content-Length', headers['content-length']);
  if (length === null) throw badRequest('Content-Length', 'Content-Length is required.');
  if (length > rules.MAX_PUT_BYTES) {
    const message = 'PUT accepts at most 5 GB. Use tus for larger files.';
    throw new AppError('PAYLOAD_TOO_LARGE', { message });
  }
  const piece = {
    protocol: 'PUT',
    pieceBytes: length,
    digest: null,
    body: toRequestBody(request.raw),
  } as const;
  if (range !== null && range.start !== null) {
    if (length !== range.end - range.start + 1) {
      throw badRequest('Content-Range', 'Content-Range does not match Content-Length.');
    }
    return { ...piece, offset: range.start, totalBytes: range.total };
  }
  if (row.size_bytes !== null && length > row.size_bytes) {
    throw new AppError('PAYLOAD_TOO_LARGE', { message: `The upload has ${row.size_bytes} bytes.` });
  }
  if (row.size_bytes !== null && length < row.size_bytes) {
    throw badRequest('Content-Length', `The upload was announced with ${row.size_bytes} bytes.`);
  }
  return { ...piece, offset: null, totalBytes: row.size_bytes ?? length };
}

/** Parses a tus creation into the shape of POST /upload. */
function creationOf({ headers }: FastifyRequest): Record<string, unknown> {
  const deferred = headers['upload-defer-length'];
  if (deferred !== undefined && deferred !== '1') {
    throw badRequest('Upload-Defer-Length', 'Upload-Defer-Length must be 1.');
  }
  const length = rules.byteCount('Upload-Length', headers['upload-length']);
  if ((length === null) === (deferred === undefined)) {
    throw badRequest('Upload-Length', 'Send either Upload-Length or Upload-Defer-Length.');
  }
  if (length !== null) rules.checkedSize('Upload-Length', length);
  const said = rules.parseMetadata(headers['upload-metadata']);
  const first = (...names: string[]) => names.map((name) => said.get(name)).find((value) => value);
  const fields = {
    filename: first('filename', 'name') ?? 'upload',
    mimeType: first('filetype', 'type', 'mimeType'),
    sha256: first('sha256'),
    videoId: first('videoId'),
    title: first('title'),
    description: first('description'),
    visibility: first('visibility'),
    corsOrigin: first('corsOrigin'),
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), sizeBytes: length };
}

/** Lets the sender of a partly read body receive the response, and then closes the connection. */
function linger({ raw }: FastifyRequest): void {
  if (raw.complete || raw.destroyed) return;
  const timer = setTimeout(() => raw.destroy(), LINGER_MS).unref();
  raw.once('close', () => clearTimeout(timer));
  raw.resume();
}

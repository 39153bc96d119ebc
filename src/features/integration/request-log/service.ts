import { type Clock, dateFromMs, dateFromText } from '../../../kernel/clock.ts';
import { badRequest } from '../../../kernel/errors.ts';
import { isUuidV4 } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import { createRecorder, type RecordedRequest, type Recorder } from './recorder.ts';
import type { RequestRow } from './repository.ts';
import * as repository from './repository.ts';
import { parsePath, parseStatuses, RETENTION_MS } from './rules.ts';

interface Deps {
  db: Db;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** The path of the base URL. */
  basePath: string;
  /** False: nothing is recorded. */
  isOn: boolean;
  /** Hook called with the number of rows that were dropped. */
  onRowsDropped(count: number): void;
}

/** Filters as they are sent. */
export interface RequestQuery {
  requestId?: string;
  status?: string;
  path?: string;
  keyId?: string;
  from?: string;
  to?: string;
}

export interface RequestLog extends Recorder {
  /** Lists requests of the last 7 days. @throws {AppError} BAD_REQUEST that names the filter. */
  list(workspaceId: string, query: RequestQuery, page: PageRequest): Promise<RequestRow[]>;
}

export function createRequestLog({ db, clock, log, basePath, isOn, onRowsDropped }: Deps): RequestLog {
  const write = (rows: readonly RecordedRequest[]) => repository.insertRequests(db, rows);
  const recorder = createRecorder({ write, clock, log, onRowsDropped });
  return {
    ...recorder,
    note(request) {
      if (isOn) recorder.note(request);
    },
    async list(workspaceId, { requestId, status, path, keyId, from, to }, page) {
      if (requestId !== undefined && !isUuidV4(requestId)) {
        throw badRequest('requestId', 'requestId must be a UUID from X-SVC-Request-Id.');
      }
      const begin = from === undefined ? null : dateFromText(from);
      const end = to === undefined ? undefined : dateFromText(to);
      if (begin !== null && end !== undefined && begin >= end) {
        throw badRequest('to', 'to must be after from.');
      }
      const kept = dateFromMs(clock.ms() - RETENTION_MS);
      const filter = {
        requestId,
        statuses: status === undefined ? undefined : parseStatuses(status),
        path: path === undefined ? undefined : parsePath(path, basePath),
        keyId,
        from: begin !== null && begin > kept ? begin : kept,
        to: end,
      };
      return repository.listRequests(db, workspaceId, filter, page);
    },
  };
}

import type { Plan } from '../kernel/plans.ts';
import type { Logger } from '../platform/logger.ts';

export type Scope = 'READ_ONLY' | 'STANDARD' | 'FULL_ACCESS';
export type Mode = 'live' | 'test';

/** Whom an API key stands for; every service takes it, or its `workspaceId`, first. */
export interface Caller {
  workspaceId: string;
  accountId: string;
  keyId: string;
  scope: Scope;
  /** Empty on a STANDARD key means every permission outside finance (`api.md` C2). */
  permissions: readonly string[];
  mode: Mode;
  plan: Plan;
  rateLimitPerMinute: number;
  dailyQuota: number | null;
}

/** A file that came as a part of a multipart body. */
export interface UploadedFile {
  bytes: Buffer;
}

/** What a handler gets besides its validated input. */
export interface RequestContext<C extends Caller | null = Caller> {
  requestId: string;
  caller: C;
  ip: string;
  /** Empty when the client names none. */
  userAgent: string;
  log: Logger;
  /** Present where the endpoint takes a file and one came. */
  upload?: UploadedFile;
}

import { randomBytes } from 'node:crypto';
import type { EventCatalogue } from '../../events/catalogue.ts';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { PageRequest } from '../../kernel/page.ts';
import type { Db } from '../../platform/db/index.ts';
import { GuardError, type Outbound } from '../../platform/outbound/index.ts';
import type { Secrets } from '../../platform/secrets.ts';
import type { DeliveryFilter, DeliveryRow, WebhookRow } from './repository.ts';
import * as repository from './repository.ts';

/** How many webhooks the account's plan allows for each workspace. */
export type WebhookLimit = (accountId: string) => Promise<number>;

export interface WebhookDeps {
  db: Db;
  catalogue: EventCatalogue;
  outbound: Pick<Outbound, 'checkUrl'>;
  secrets: Secrets;
  clock: Clock;
  limitFor: WebhookLimit;
}

export interface WebhookInput {
  url: string;
  events?: string[];
  description?: string;
  isActive?: boolean;
}

/** What partners do with their webhooks. Each id is looked up in the workspace: NOT_FOUND otherwise. */
export interface Webhooks {
  /**
   * @returns the webhook and its signing secret in clear, which is never shown again.
   * @throws {AppError} BAD_REQUEST, field `url` or `events.<n>`; QUOTA_EXCEEDED.
   */
  create(
    owner: { workspaceId: string; accountId: string },
    input: WebhookInput,
  ): Promise<{ row: WebhookRow; signingSecret: string }>;
  list(workspaceId: string, page: PageRequest): Promise<WebhookRow[]>;
  get(workspaceId: string, id: string): Promise<WebhookRow>;
  /** Its pending deliveries and its log go with it. */
  remove(workspaceId: string, id: string): Promise<void>;
  deliveries(
    workspaceId: string,
    id: string,
    filter: DeliveryFilter,
    page: PageRequest,
  ): Promise<DeliveryRow[]>;
  /** Every type one can subscribe to, sorted. */
  eventTypes(): readonly string[];
}

const MAX_URL_LENGTH = 2048;

export function createWebhooks(deps: WebhookDeps): Webhooks {
  const { db, catalogue, outbound, secrets, clock, limitFor } = deps;

  const get = async (workspaceId: string, id: string) => {
    const row = await repository.findWebhook(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };

  return {
    get,
    async create({ workspaceId, accountId }, input) {
      const events = parsePatterns(catalogue, input.events ?? []);
      await checkUrl(outbound, input.url);
      const limit = await limitFor(accountId);
      const id = newId('wh');
      const signingSecret = `whsec_${randomBytes(32).toString('base64url')}`;
      const now = clock.now();
      const row = await db.transaction().execute(async (tx) => {
        await repository.lockWorkspace(tx, workspaceId);
        if ((await repository.countWebhooks(tx, workspaceId)) >= limit) {
          throw new AppError('QUOTA_EXCEEDED', { message: `The plan allows ${limit} webhooks.` });
        }
        return repository.insertWebhook(tx, workspaceId, {
          id,
          url: input.url,
          events,
          is_active: input.isActive ?? true,
          description: input.description ?? '',
          secret: secrets.encrypt(signingSecret, id),
          created_at: now,
          updated_at: now,
        });
      });
      return { row, signingSecret };
    },
    list: (workspaceId, page) => repository.listWebhooks(db, workspaceId, page),
    async remove(workspaceId, id) {
      const found = await db.transaction().execute((tx) => repository.deleteWebhook(tx, workspaceId, id));
      if (!found) throw notFound();
    },
    async deliveries(workspaceId, id, filter, page) {
      await get(workspaceId, id);
      return repository.listDeliveries(db, workspaceId, id, filter, page);
    },
    eventTypes: () => catalogue.types(),
  };
}

/**
 * Patterns as they are stored: each once, and nothing at all for `*`, which is every type.
 *
 * @throws {AppError} BAD_REQUEST, field `events.<n>`, for what matches no type of the catalogue.
 */
function parsePatterns(catalogue: EventCatalogue, patterns: readonly string[]): string[] {
  const unknown = patterns.findIndex((pattern) => pattern !== '*' && !catalogue.isPattern(pattern));
  if (unknown !== -1) {
    throw badRequest(`events.${unknown}`, 'There is no such event type; see GET /me/webhooks/events.');
  }
  return patterns.includes('*') ? [] : [...new Set(patterns)];
}

/** @throws {AppError} BAD_REQUEST, field `url` (contract 6.4). */
async function checkUrl(outbound: Pick<Outbound, 'checkUrl'>, url: string): Promise<void> {
  try {
    await outbound.checkUrl(url, { maxLength: MAX_URL_LENGTH });
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    throw badRequest('url', `Webhooks cannot be sent to this URL: ${error.reason}.`);
  }
}

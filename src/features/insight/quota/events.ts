import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { OneOf } from '../../../http/schema.ts';
import { RESOURCE_KEYS, type ResourceKey } from '../../../kernel/plans.ts';

const data = namedSchema(
  'QuotaEventData',
  Type.Object({
    key: OneOf(RESOURCE_KEYS),
    used: Type.Integer(),
    limit: Type.Integer(),
    percent: Type.Integer({ description: 'Threshold reached: 80, 95 or 100.' }),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this resource.' }),
  }),
);

/** Resources that count concurrent use: a rejected request informs the user already. */
const AT_ONCE: ReadonlySet<ResourceKey> = new Set([
  'OPEN_UPLOADS',
  'CONCURRENT_STREAMS',
  'ENCODERS',
  'ROOM_PARTICIPANTS',
]);

const wordsOf =
  (title: string) =>
  ({ key, used, limit }: { key: ResourceKey; used: number; limit: number }) =>
    AT_ONCE.has(key)
      ? null
      : {
          title,
          body: `${key}: ${used} of ${limit} used. See GET /quota for all limits. Free up resources or change the plan.`,
          resource: { type: 'QUOTA', id: key },
        };

export const quotaWarning = defineEvent({
  type: 'quota.warning',
  description:
    'Usage of a plan resource reached 80 or 95 percent. Sent once until usage falls below or resets.',
  data,
  sample: { key: 'STORAGE_BYTES', used: 8_800_000_000, limit: 10_737_418_240, percent: 80, sequence: 1 },
  notice: { severity: 'WARNING', words: wordsOf('Plan limit almost reached') },
});

export const quotaExceededEvent = defineEvent({
  type: 'quota.exceeded',
  description:
    'Usage of a plan resource reached its limit, or a request was rejected because of it. Sent once until usage falls below or resets.',
  data,
  sample: { key: 'STORAGE_BYTES', used: 10_737_418_240, limit: 10_737_418_240, percent: 100, sequence: 3 },
  notice: { severity: 'CRITICAL', words: wordsOf('Plan limit reached') },
});

export const quotaEvents: EventDefinition[] = [quotaWarning, quotaExceededEvent];

import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';

const tierId = Type.String();
const name = Type.String();
const sequence = Type.Integer({ minimum: 1, description: 'Increases with each event about this tier.' });
const changes = Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
  description: 'Changed fields with old and new values.',
});
const SAMPLE_ID = 'tier_01kafe3n4pfx2v9yq6m8d7t5zr';

export const tierCreated = defineEvent({
  type: 'tier.created',
  description: 'A tier was created.',
  data: Type.Object({ tierId, name, sequence }),
  sample: { tierId: SAMPLE_ID, name: 'Supporter', sequence: 1 },
});

export const tierUpdated = defineEvent({
  type: 'tier.updated',
  description: 'A tier was changed.',
  data: Type.Object({
    tierId,
    name,
    changes,
    migrateExisting: Type.Boolean({
      description: 'Whether existing members pay the new price from their next period on.',
    }),
    sequence,
  }),
  sample: {
    tierId: SAMPLE_ID,
    name: 'Friend',
    changes: { name: { from: 'Supporter', to: 'Friend' } },
    migrateExisting: false,
    sequence: 2,
  },
});

export const tierArchived = defineEvent({
  type: 'tier.archived',
  description: 'A tier was archived, or deleted if it had never been bought.',
  data: Type.Object({ tierId, name, sequence }),
  sample: { tierId: SAMPLE_ID, name: 'Friend', sequence: 3 },
});

export const tierEvents: EventDefinition[] = [tierCreated, tierUpdated, tierArchived];

import { nextSequence } from '../../../events/index.ts';
import * as mails from './emails.ts';
import { EVENT_BY_TRANSITION, subscriptionUpdated } from './events.ts';
import type { SubscriptionPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import type { Change, SubscriptionRow } from './rules.ts';

/** Returns the data of the events about a subscription. */
export function eventDataOf(row: SubscriptionRow, sequence: number) {
  return {
    subscriptionId: row.id,
    tierId: row.tier_id,
    status: row.status,
    currentPeriodEnd: row.current_period_end.toISOString(),
    cancelAtPeriodEnd: row.cancel_at_period_end,
    clientReferenceId: row.client_reference_id,
    sequence,
  };
}

/**
 * Stores a change of a locked subscription, and adjusts the tiers' spots and sends the event and email that
 * follow.
 */
export async function apply(
  ports: SubscriptionPorts,
  { tx, append }: TransactionContext,
  row: SubscriptionRow,
  { patch, told }: Change,
  wasClaimed = false,
): Promise<SubscriptionRow> {
  const after = await repository.updateSubscription(tx, row.id, { ...patch, updated_at: ports.clock.now() });
  await movePlaces(ports, tx, row, after, wasClaimed);
  const moved = changesOf(row, after);
  if (Object.keys(moved).length > 0) {
    const sequence = await nextSequence(tx, 'subscription', row.id);
    const data = { ...eventDataOf(after, sequence), changes: moved };
    await append(subscriptionUpdated, row.workspace_id, data);
  }
  if (told !== null && told !== 'updated') {
    const sequence = await nextSequence(tx, 'subscription', row.id);
    await append(EVENT_BY_TRANSITION[told], row.workspace_id, eventDataOf(after, sequence));
  }
  if (told === 'canceled' || told === 'cancel_scheduled') {
    await mailMember(ports, tx, mails.subscriptionCanceledEmail(await emailContext(ports, tx, after)));
  }
  return after;
}

async function movePlaces(
  { places }: SubscriptionPorts,
  tx: TransactionContext['tx'],
  before: SubscriptionRow,
  after: SubscriptionRow,
  wasClaimed: boolean,
): Promise<void> {
  if (before.tier_id !== after.tier_id) {
    await places.join(tx, after.tier_id, wasClaimed);
    await places.leave(tx, before.tier_id);
  }
  if (before.ended_at !== null || after.ended_at === null) return;
  await places.leave(tx, after.tier_id);
  await releaseClaim({ places }, tx, before);
}

/** Releases the spot of the tier that the pending charge was for. */
export async function releaseClaim(
  { places }: Pick<SubscriptionPorts, 'places'>,
  tx: TransactionContext['tx'],
  { charge_tier_id: claimed, tier_id: present }: SubscriptionRow,
): Promise<void> {
  if (claimed !== null && claimed !== present) await places.release(tx, claimed);
}

/**
 * Returns the changed tier, current or pending. When a pending tier takes effect, its planning has been
 * reported already.
 */
function changesOf(before: SubscriptionRow, after: SubscriptionRow) {
  if (before.tier_id !== after.tier_id) {
    return { tierId: { from: before.tier_id, to: after.tier_id } };
  }
  if (before.pending_tier_id === after.pending_tier_id || after.ended_at !== null) return {};
  return { pendingTierId: { from: before.pending_tier_id, to: after.pending_tier_id } };
}

/** Emails a member, whose address was typed once, within the limit of their mailbox. */
export async function mailMember(
  { mailbox, mailCaps }: Pick<SubscriptionPorts, 'mailbox' | 'mailCaps'>,
  tx: TransactionContext['tx'],
  mail: mails.Mail,
): Promise<boolean> {
  if (!(await mailCaps.mayMail(mail.to, null))) return false;
  await mailbox.enqueue(tx, mail);
  return true;
}

/** Returns the context of its emails. */
export async function emailContext(
  { memberPage }: Pick<SubscriptionPorts, 'memberPage'>,
  tx: TransactionContext['tx'],
  row: SubscriptionRow,
): Promise<mails.EmailContext> {
  const facts = await repository.findEmailContext(tx, row.id);
  return { ...facts, row, page: memberPage(facts) };
}

import type { Accounts } from '../features/accounts/index.ts';
import { apiKeyEvents } from '../features/api-keys/index.ts';
import { bookingEvents, cohortMovedJob } from '../features/bookings/index.ts';
import { bridgeEvents } from '../features/bridges/index.ts';
import { changelogEvents } from '../features/changelog/index.ts';
import { checkoutEvents } from '../features/checkout/index.ts';
import { cohortEvents } from '../features/cohorts/index.ts';
import { discountCodeEvents } from '../features/discount-codes/index.ts';
import { domainEvents } from '../features/domains/index.ts';
import { payoutEvents } from '../features/ledger/index.ts';
import type { Mailbox, MailCaps } from '../features/mail/index.ts';
import {
  type CollectedCard,
  forgetCustomersJob,
  type Payments,
  paymentEvents,
  settleRefundJob,
} from '../features/payments/index.ts';
import { productEvents } from '../features/products/index.ts';
import { recordingJob } from '../features/recordings/index.ts';
import { restreamEvents } from '../features/restreams/index.ts';
import { type Rooms, roomEvents, roomRecordingJob } from '../features/rooms/index.ts';
import { streamEvents } from '../features/streams/index.ts';
import { type Subscriptions, subscriptionEvents } from '../features/subscriptions/index.ts';
import { teamEvents } from '../features/team/index.ts';
import { tierEvents } from '../features/tiers/index.ts';
import { uploadEvents } from '../features/uploads/index.ts';
import type { Tally } from '../features/usage/index.ts';
import { followerEvents } from '../features/users/index.ts';
import {
  createVideoIntake,
  createVideoPurge,
  processingJobs,
  transcribeJob,
  type Videos,
  videoEvents,
} from '../features/videos/index.ts';
import { waitlistEvents } from '../features/waitlist/index.ts';
import { webhookEvents } from '../features/webhooks/index.ts';
import type { Built, Declarations, Part } from './part.ts';
import { accountsPart, profilesPart } from './parts/accounts.ts';
import { createAddresses } from './parts/addresses.ts';
import { apiKeysPart } from './parts/api-keys.ts';
import { createArriving } from './parts/arrivals.ts';
import { authPart } from './parts/auth.ts';
import { availabilityPart } from './parts/availability.ts';
import { bookingPagesPart } from './parts/booking-pages.ts';
import { bookingsPart } from './parts/bookings.ts';
import { bridgesPart } from './parts/bridges.ts';
import { changelogPart } from './parts/changelog.ts';
import { chatPart } from './parts/chat.ts';
import { checkoutPart } from './parts/checkout.ts';
import { cohortsPart } from './parts/cohorts.ts';
import { discountCodesPart } from './parts/discount-codes.ts';
import { domainsPart } from './parts/domains.ts';
import { dvrPart } from './parts/dvr.ts';
import { eventLogPart } from './parts/event-log.ts';
import { healthPart } from './parts/health.ts';
import { ledgerPart } from './parts/ledger.ts';
import { liveNodesPart } from './parts/live-nodes.ts';
import { mailPart } from './parts/mail.ts';
import { membersPart } from './parts/members.ts';
import { paymentsPart } from './parts/payments.ts';
import { platformPart } from './parts/platform.ts';
import { playbackPart } from './parts/playback.ts';
import { processingPart } from './parts/processing.ts';
import { productsPart } from './parts/products.ts';
import { recordingReady, recordingsPart } from './parts/recordings.ts';
import { requestLogPart } from './parts/request-log.ts';
import { restreamsPart } from './parts/restreams.ts';
import { roomRecordingReady, roomsPart } from './parts/rooms.ts';
import { sessionsPart } from './parts/sessions.ts';
import { slotsPart } from './parts/slots.ts';
import { streamsPart } from './parts/streams.ts';
import { subscriptionsPart } from './parts/subscriptions.ts';
import { teamPart } from './parts/team.ts';
import { tiersPart } from './parts/tiers.ts';
import { uploadsPart } from './parts/uploads.ts';
import { usagePart } from './parts/usage.ts';
import { usersPart } from './parts/users.ts';
import { videosPart } from './parts/videos.ts';
import { waitlistPart } from './parts/waitlist.ts';
import { webhooksPart } from './parts/webhooks.ts';
import { whepPart } from './parts/whep.ts';
import { whipPart } from './parts/whip.ts';
import type { Base } from './wiring.ts';

/** What the features of the core append and enqueue. */
export const coreDeclarations: Declarations = {
  events: [
    ...streamEvents,
    ...restreamEvents,
    ...bridgeEvents,
    ...roomEvents,
    ...webhookEvents,
    ...apiKeyEvents,
    ...domainEvents,
    ...teamEvents,
    ...videoEvents,
    ...uploadEvents,
    ...tierEvents,
    ...discountCodeEvents,
    ...subscriptionEvents,
    ...checkoutEvents,
    ...paymentEvents,
    ...payoutEvents,
    ...productEvents,
    ...cohortEvents,
    ...waitlistEvents,
    ...bookingEvents,
    ...followerEvents,
    ...changelogEvents,
  ],
  jobs: [
    ...processingJobs,
    transcribeJob,
    recordingJob,
    roomRecordingJob,
    cohortMovedJob,
    forgetCustomersJob,
    settleRefundJob,
  ],
};

/** Keeps the part, and hands on what it gives. */
type Take = <T>(built: Built<T>) => T;

/**
 * The features that others stand on, in order of need: each is given the platform and, by name, what it needs of
 * those before it.
 */
export function buildCore(base: Base) {
  const parts: Part[] = [];
  const take: Take = ({ part, gives }) => {
    parts.push(part);
    return gives;
  };
  const { tally, usage } = take(usagePart(base));
  const people = buildPeople(base, take);
  const { webhooks, failureWatch } = take(webhooksPart(base));
  const media = buildMedia({ ...base, ...people, tally }, take);
  const meeting = take(roomsPart({ ...base, ...media }));
  const money = buildMoney({ ...base, ...people, ...media }, take);
  const booked = buildBooking({ ...base, ...people, ...meeting, ...money }, take);
  const carried = take(bridgesPart({ ...base, ...media, ...meeting }));
  parts.push(membersPart({ ...base, ...people, ...media, ...money }));
  const selling = take(checkoutPart({ ...base, ...people, ...media, ...money, ...booked }));
  parts.push(bookingPagesPart({ ...base, ...people, ...booked, ...selling }));
  const { requestLog } = take(requestLogPart({ ...base, tally }));
  const { changelog } = take(changelogPart({ ...base, ...people }));
  const { profiles } = take(profilesPart({ ...base, ...people }));
  parts.push(
    eventLogPart(base),
    healthPart({ ...base, ...meeting, ...money }),
    sessionsPart({ ...base, ...people, profiles }),
    platformPart(base),
  );
  return {
    core: {
      ...base,
      ...people,
      ...media,
      ...meeting,
      ...carried,
      ...money,
      ...booked,
      ...selling,
      webhooks,
      failureWatch,
      requestLog,
      changelog,
      usage,
    },
    parts,
  };
}

/** What creators sell, and the books of what moves. */
interface Selling extends Base {
  accounts: Accounts;
  mailbox: Mailbox;
  mailCaps: MailCaps;
  videos: Videos;
}

function buildMoney(base: Selling, take: Take) {
  const books = take(ledgerPart(base));
  const tiers = take(tiersPart(base));
  const codes = take(discountCodesPart(base));
  const onCardCollected = (card: CollectedCard): Promise<void> => renewed.subscriptions.giveCard(card);
  const paid = take(paymentsPart({ ...base, ...books, onCardCollected }));
  const renewed: { subscriptions: Subscriptions } = take(subscriptionsPart({ ...base, ...tiers, ...paid }));
  return { ...books, ...tiers, ...codes, ...paid, ...renewed };
}

/** Time that creators sell. */
interface Booked extends Base {
  accounts: Accounts;
  mailbox: Mailbox;
  mailCaps: MailCaps;
  payments: Payments;
  rooms: Rooms;
}

function buildBooking(base: Booked, take: Take) {
  const { availability } = take(availabilityPart(base));
  const { products } = take(productsPart(base));
  const { slots } = take(slotsPart({ ...base, products, availability }));
  const { cohorts } = take(cohortsPart({ ...base, availability, products }));
  const selling = { ...base, availability, products, slots, cohorts };
  const { waitlist } = take(waitlistPart(selling));
  const booked = take(bookingsPart({ ...selling, waitlist }));
  return { availability, products, slots, cohorts, waitlist, ...booked };
}

/** Accounts, and who may act for them. */
function buildPeople(base: Base, take: Take) {
  const { accounts } = take(accountsPart(base));
  const { mailbox, mailCaps } = take(mailPart(base));
  const { apiKeys } = take(apiKeysPart({ ...base, mailbox }));
  const { auth } = take(authPart({ ...base, accounts, mailbox, mailCaps, apiKeys }));
  const { team } = take(teamPart({ ...base, accounts, mailbox, mailCaps, apiKeys, auth }));
  const { domains } = take(domainsPart(base));
  const known = take(usersPart({ ...base, accounts, apiKeys, auth }));
  return { accounts, mailbox, mailCaps, apiKeys, auth, team, domains, ...known };
}

/** Who watches. */
type Known = Pick<ReturnType<typeof buildPeople>, 'follows' | 'followBox' | 'visitors'>;

/** Videos with all that brings and makes them, streams, and how both are watched. */
function buildMedia(base: Base & Known & { tally: Tally }, take: Take) {
  const arriving = createArriving(base);
  const addresses = createAddresses(base);
  const { processing } = take(
    processingPart({ ...base, ...addresses, onPlayable: [recordingReady(base), roomRecordingReady(base)] }),
  );
  const videoPurge = createVideoPurge(base);
  const intake = createVideoIntake({ ...base, processing, trash: videoPurge });
  const { uploads, uploadSessions } = take(uploadsPart({ ...base, intake }));
  const video = take(
    videosPart({
      ...base,
      ...arriving,
      ...addresses,
      processing,
      intake,
      uploads,
      uploadSessions,
      videoPurge,
    }),
  );
  const { recordings } = take(recordingsPart({ ...base, intake }));
  const { dvr } = take(dvrPart({ ...base, intake, recordings }));
  const live = take(streamsPart({ ...base, ...addresses, recordings }));
  const { liveChat } = take(chatPart({ ...base, ...arriving, ...addresses, ...live }));
  const nodes = take(liveNodesPart(base));
  const watching = take(playbackPart({ ...base, ...arriving, ...addresses, ...nodes, recordings, liveChat }));
  const sentOn = take(restreamsPart(base));
  const published = take(whipPart({ ...base, ...addresses, ...live }));
  const shown = take(whepPart({ ...base, ...arriving, ...addresses, ...watching }));
  return {
    ...addresses,
    ...video,
    ...watching,
    ...nodes,
    ...live,
    ...sentOn,
    ...published,
    ...shown,
    intake,
    uploads,
    recordings,
    dvr,
  };
}

/** What an optional noun may build on. */
export type Core = ReturnType<typeof buildCore>['core'];

/** A feature that nothing else needs: `nouns.ts` lists them. */
export interface Noun extends Declarations {
  build(core: Core): Part;
}

import { subscribersDeclarations } from '../features/audience/subscribers/module.ts';
import { bookingsDeclarations } from '../features/booking/bookings/module.ts';
import { cohortsDeclarations } from '../features/booking/cohorts/module.ts';
import { productsDeclarations } from '../features/booking/products/module.ts';
import { waitlistDeclarations } from '../features/booking/waitlist/module.ts';
import { checkoutDeclarations } from '../features/commerce/checkout/module.ts';
import { discountCodesDeclarations } from '../features/commerce/discount-codes/module.ts';
import { ledgerDeclarations, revenueDeclarations } from '../features/commerce/ledger/module.ts';
import { paymentsDeclarations } from '../features/commerce/payments/module.ts';
import { subscriptionsDeclarations } from '../features/commerce/subscriptions/module.ts';
import { tiersDeclarations } from '../features/commerce/tiers/module.ts';
import { apiKeysDeclarations } from '../features/identity/api-keys/module.ts';
import { domainsDeclarations } from '../features/identity/domains/module.ts';
import { privacyDeclarations } from '../features/identity/privacy/module.ts';
import { teamDeclarations } from '../features/identity/team/module.ts';
import { usersDeclarations } from '../features/identity/users/module.ts';
import { rollupsDeclarations } from '../features/insight/analytics/module.ts';
import { quotaDeclarations } from '../features/insight/quota/module.ts';
import { summaryDeclarations } from '../features/insight/summary/module.ts';
import { changelogDeclarations } from '../features/integration/changelog/module.ts';
import { supportDeclarations } from '../features/integration/support/module.ts';
import { webhooksDeclarations } from '../features/integration/webhooks/module.ts';
import { bridgesDeclarations } from '../features/live/bridges/module.ts';
import { recordingsDeclarations } from '../features/live/recordings/module.ts';
import { restreamsDeclarations } from '../features/live/restreams/module.ts';
import { streamsDeclarations } from '../features/live/streams/module.ts';
import type { Declarations } from '../features/module.ts';
import { roomsDeclarations } from '../features/rooms/module.ts';
import { importsDeclarations } from '../features/video/imports/module.ts';
import { playlistsDeclarations } from '../features/video/playlists/module.ts';
import { uploadsDeclarations } from '../features/video/uploads/module.ts';
import { clipsDeclarations, videosDeclarations } from '../features/video/videos/module.ts';

/** Declarations of all features, read before any is created. */
export const DECLARATIONS: readonly Declarations[] = [
  subscribersDeclarations,
  bookingsDeclarations,
  cohortsDeclarations,
  productsDeclarations,
  waitlistDeclarations,
  checkoutDeclarations,
  discountCodesDeclarations,
  ledgerDeclarations,
  revenueDeclarations,
  paymentsDeclarations,
  subscriptionsDeclarations,
  tiersDeclarations,
  apiKeysDeclarations,
  domainsDeclarations,
  privacyDeclarations,
  teamDeclarations,
  usersDeclarations,
  rollupsDeclarations,
  quotaDeclarations,
  summaryDeclarations,
  changelogDeclarations,
  supportDeclarations,
  webhooksDeclarations,
  bridgesDeclarations,
  recordingsDeclarations,
  restreamsDeclarations,
  streamsDeclarations,
  roomsDeclarations,
  importsDeclarations,
  playlistsDeclarations,
  uploadsDeclarations,
  clipsDeclarations,
  videosDeclarations,
];

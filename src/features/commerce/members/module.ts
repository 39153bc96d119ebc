import type { Mailbox, MailCaps } from '../../integration/mail/index.ts';
import { type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { CardService, Payments, STRIPE_PAGES } from '../payments/index.ts';
import type { Subscriptions } from '../subscriptions/index.ts';
import type { MemberCookie } from './cookie.ts';
import { memberPages } from './member.pages.ts';
import { createMembers } from './service.ts';

export { createMemberCookie } from './cookie.ts';
export { paidVideos } from './entitlements.repository.ts';
export { createMemberEntitlements } from './entitlements.ts';
export { createSellers } from './sellers.ts';
export { memberPath } from './service.ts';

interface MembersDeps extends Pick<Platform, 'caps' | 'clock' | 'config' | 'db' | 'secrets'> {
  cards: CardService;
  mailCaps: MailCaps;
  mailbox: Mailbox;
  memberCookie: MemberCookie;
  payments: Payments;
  subscriptions: Subscriptions;
  /** Origins of the payment pages of providers. */
  providerPages: typeof STRIPE_PAGES;
}

/** The pages of those who have bought something. */
export function createMembersModule(deps: MembersDeps): FeatureModule {
  const { config, caps, secrets, payments, subscriptions, memberCookie: cookie } = deps;
  const publicUrl = config.PUBLIC_URL;
  const members = createMembers({ ...deps, cookie, publicUrl });
  const cards = {
    collect: deps.cards.collect,
    providerPages: deps.providerPages,
    isSandbox: (workspaceId: string) =>
      payments.providerOf(workspaceId).then(
        ({ name }) => name === 'SANDBOX',
        // No card can be stored without an active payment provider.
        () => false,
      ),
  };
  return {
    pages: ({ assets }) => [
      memberPages({
        ...{ members, subscriptions, cards, cookie, secrets, assets, publicUrl },
        counters: { window: caps },
      }),
    ],
    tasks: () => [
      { name: 'member links', everyMs: INTERVALS.second, run: () => members.sendRequested() },
      { name: 'member cleanup', everyMs: INTERVALS.hour, run: () => members.cleanUp() },
    ],
  };
}

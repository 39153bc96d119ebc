import { createMembers, memberPages } from '../../features/commerce/members/index.ts';
import { type CardService, type Payments, STRIPE_PAGES } from '../../features/commerce/payments/index.ts';
import type { Subscriptions } from '../../features/commerce/subscriptions/index.ts';
import type { Mailbox, MailCaps } from '../../features/integration/mail/index.ts';
import { type FeatureModule, INTERVALS } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';
import type { PlaybackUrls } from './addresses.ts';

interface Needs extends BaseContext, Pick<PlaybackUrls, 'memberCookie'> {
  mailbox: Mailbox;
  mailCaps: MailCaps;
  payments: Payments;
  cards: CardService;
  subscriptions: Subscriptions;
}

/** The pages of those who have bought something. */
export function membersPart(needs: Needs): FeatureModule {
  const { config, caps, secrets, payments, subscriptions, memberCookie: cookie } = needs;
  const publicUrl = config.PUBLIC_URL;
  const members = createMembers({ ...needs, cookie, publicUrl });
  const cards = {
    collect: needs.cards.collect,
    providerPages: STRIPE_PAGES,
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
      { name: 'member clean-up', everyMs: INTERVALS.hour, run: () => members.cleanUp() },
    ],
  };
}

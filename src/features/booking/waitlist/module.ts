import type { Mailbox, MailCaps } from '../../integration/mail/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Availability } from '../availability/index.ts';
import type { BookingEvents, ClassSeats } from '../bookings/index.ts';
import type { calendar } from '../calendars/index.ts';
import type { Cohorts } from '../cohorts/index.ts';
import type { Products } from '../products/index.ts';
import type { Slots } from '../slots/index.ts';
import { createWaitlistConsumers } from './consumers.ts';
import { waitlistEvents } from './events.ts';
import { waitlistRoutes } from './routes.ts';
import { createWaitlist, type Waitlist } from './service.ts';

export const waitlistDeclarations: Declarations = { events: waitlistEvents };

interface WaitlistDeps
  extends Pick<Platform, 'clock' | 'config' | 'cursors' | 'db' | 'events' | 'log' | 'secrets'> {
  availability: Availability;
  cohorts: Cohorts;
  mailCaps: MailCaps;
  mailbox: Mailbox;
  products: Products;
  slots: Slots;
  /** Events of bookings. */
  booking: BookingEvents;
  calendar: typeof calendar;
  classSeats: ClassSeats;
}

const SWEEP_MS = 15 * INTERVALS.second;

/** Builds the waitlist. */
export function createWaitlistModule(deps: WaitlistDeps): FeatureModule & { waitlist: Waitlist } {
  const { config, cursors } = deps;
  const waitlist = createWaitlist({
    ...deps,
    publicUrl: config.PUBLIC_URL,
  });
  return {
    waitlist,
    routes: () => waitlistRoutes({ waitlist, mailCaps: deps.mailCaps, cursors }),
    consumers: createWaitlistConsumers({ waitlist, booking: deps.booking }),
    tasks: () => [{ name: 'waitlist', everyMs: SWEEP_MS, run: () => waitlist.sweep() }],
  };
}

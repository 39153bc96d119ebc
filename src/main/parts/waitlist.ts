import type { Availability } from '../../features/booking/availability/index.ts';
import { createClassSeats } from '../../features/booking/bookings/index.ts';
import { calendar } from '../../features/booking/calendars/index.ts';
import type { Cohorts } from '../../features/booking/cohorts/index.ts';
import type { Products } from '../../features/booking/products/index.ts';
import type { Slots } from '../../features/booking/slots/index.ts';
import {
  createWaitlist,
  createWaitlistConsumers,
  type Waitlist,
  waitlistRoutes,
} from '../../features/booking/waitlist/index.ts';
import type { Mailbox, MailCaps } from '../../features/integration/mail/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';
import { booking } from './bookings.ts';

interface Needs extends BaseContext {
  availability: Availability;
  cohorts: Cohorts;
  mailbox: Mailbox;
  mailCaps: MailCaps;
  products: Products;
  slots: Slots;
}

const SWEEP_MS = 15 * INTERVALS.second;

/** Builds the waitlist. */
export function waitlistPart(needs: Needs): ModuleWithExports<{ waitlist: Waitlist }> {
  const { config, cursors } = needs;
  const waitlist = createWaitlist({
    ...needs,
    calendar,
    classSeats: createClassSeats({ ...needs, calendar }),
    publicUrl: config.PUBLIC_URL,
  });
  return {
    exports: { waitlist },
    module: {
      routes: () => waitlistRoutes({ waitlist, mailCaps: needs.mailCaps, cursors }),
      consumers: createWaitlistConsumers({ waitlist, booking }),
      tasks: () => [{ name: 'waitlist', everyMs: SWEEP_MS, run: () => waitlist.sweep() }],
    },
  };
}

import type { NewMail } from '../mail/index.ts';

interface Told {
  to: string;
  /** What is waited for, or offered. */
  place: string;
  creator: string;
  link: string;
}

/** @param isConfirmed whoever put them on the list answers for the address. */
export function joinedMail({
  to,
  place,
  creator,
  link,
  isConfirmed,
}: Told & { isConfirmed: boolean }): NewMail {
  const asked = isConfirmed ? '' : ' once you have confirmed it there, within two days';
  return {
    kind: 'waitlist-joined',
    to,
    subject: isConfirmed
      ? `You are on the waitlist: ${place}`
      : `Confirm your place on the waitlist: ${place}`,
    text: `${place}, by ${creator}

You are on the waitlist${asked}. When a place becomes free and it is your turn, we keep it for you and write to you.

${isConfirmed ? 'See' : 'Confirm it, see'} where you stand, or leave the list:

${link}

If it was not you who asked for this, leave the list there, or do nothing: nothing is booked, and nothing costs.
`,
  };
}

/** @param until as people read it. */
export function offeredMail({ to, place, creator, link, until }: Told & { until: string }): NewMail {
  return {
    kind: 'waitlist-offered',
    to,
    subject: `A spot is available: ${place}`,
    text: `${place}, by ${creator}

A place is free, and it is kept for you until ${until}. Then it goes to the next who waits.

Take it, or leave it to others:

${link}
`,
  };
}

import type { NewEmail } from '../../integration/mail/index.ts';

interface WaitlistEmailData {
  to: string;
  /** Spot that is waited for or offered. */
  place: string;
  creator: string;
  link: string;
}

/** @param isConfirmed whether the API caller vouches for the address. */
export function joinedEmail({
  to,
  place,
  creator,
  link,
  isConfirmed,
}: WaitlistEmailData & { isConfirmed: boolean }): NewEmail {
  const asked = isConfirmed ? '' : ' once you confirm it within two days';
  return {
    kind: 'waitlist-joined',
    to,
    subject: isConfirmed
      ? `You are on the waitlist: ${place}`
      : `Confirm your place on the waitlist: ${place}`,
    text: `${place}, by ${creator}

You are on the waitlist${asked}. When a spot becomes available and it is your turn, we hold it for you and email you.

${isConfirmed ? 'See' : 'Confirm your entry, see'} your position, or leave the waitlist:

${link}

If this wasn't you, leave the waitlist there or ignore this email: nothing is booked or charged.
`,
  };
}

/** @param until formatted for display. */
export function spotOfferedEmail({
  to,
  place,
  creator,
  link,
  until,
}: WaitlistEmailData & { until: string }): NewEmail {
  return {
    kind: 'waitlist-offered',
    to,
    subject: `A spot is available: ${place}`,
    text: `${place}, by ${creator}

A spot is available and held for you until ${until}. After that it is offered to the next person.

Book or decline it here:

${link}
`,
  };
}

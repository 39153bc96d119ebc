import type { NewMail } from '../mail/index.ts';
import { CONFIRM_DAYS } from './links.ts';

/** Asks whether a creator may write to an address. */
export function confirmMail({
  to,
  creator,
  confirmUrl,
  leaveUrl,
}: {
  to: string;
  creator: string;
  confirmUrl: string;
  leaveUrl: string;
}): NewMail {
  return {
    kind: 'subscriber-confirm',
    to,
    subject: `Confirm your subscription to ${creator}`,
    text: `Somebody, hopefully you, has put this address on the list of people to whom ${creator} writes.

Open this link within ${CONFIRM_DAYS} days and confirm it:

${confirmUrl}

If it was not you, do nothing: who does not confirm gets no mail. To be asked no more, leave the list:

${leaveUrl}
`,
    unsubscribeUrl: leaveUrl,
  };
}

/** The words of the mails; plain text, so that there is nothing in them to be misread. */

interface Mail {
  kind: string;
  to: string;
  subject: string;
  text: string;
}

export function verifyMail(to: string, link: string): Mail {
  return {
    kind: 'verify-email',
    to,
    subject: 'Verify your email address',
    text: `A Marquee account was created with this email address.

To verify your email address, open this link within 24 hours:

${link}

If this wasn't you, ignore this email. Unverified addresses cannot be used.
`,
  };
}

export function resetMail(to: string, link: string): Mail {
  return {
    kind: 'reset-password',
    to,
    subject: 'Reset your password',
    text: `We received a request to reset the password of your Marquee account.

Open this link within one hour and choose one:

${link}

If this wasn't you, ignore this email. Your password will not change.
`,
  };
}

export function passwordChangedMail(to: string, link: string): Mail {
  return {
    kind: 'password-changed',
    to,
    subject: 'Your password was changed',
    text: `The password of your Marquee account was changed, and other devices were signed out. API keys work on.

If this wasn't you, reset your password immediately:

${link}
`,
  };
}

export function changeEmailMail(to: string, link: string): Mail {
  return {
    kind: 'change-email',
    to,
    subject: 'Confirm your new email address',
    text: `Somebody, hopefully you, wants to use this address for their Marquee account.

To verify your email address, open this link within 24 hours:

${link}

If it was not you, do nothing: nothing changes.
`,
  };
}

/** @param state of the change. */
export function emailChangingMail(
  to: string,
  { email, state }: { email: string; state: 'ASKED' | 'DONE' },
  link: string,
): Mail {
  const said =
    state === 'ASKED'
      ? `Somebody, hopefully you, wants to change the address of your Marquee account to ${email}. It changes when that address is confirmed.`
      : `The address of your Marquee account was changed to ${email}. Nothing more is sent to this one.`;
  return {
    kind: 'email-changing',
    to,
    subject: state === 'ASKED' ? 'Your email address is being changed' : 'Your email address was changed',
    text: `${said}

If it was not you, somebody knows your password. Open this link within 7 days, keep this address and choose a new password:

${link}
`,
  };
}

export function newPlaceMail(to: string, { ip, at }: { ip: string; at: Date }, link: string): Mail {
  return {
    kind: 'new-sign-in',
    to,
    subject: 'New sign-in to your account',
    text: `Your Marquee account was signed in to from a new IP address:

${ip.replace(/^::ffff:(?=\d+\.)/i, '')}, at ${at.toISOString()}

If it was you, or a service that signs in for you, do nothing. If not, choose a new password at once:

${link}
`,
  };
}

export function twoFactorMail(to: string, isOn: boolean, link: string): Mail {
  return {
    kind: 'two-factor-changed',
    to,
    subject: `The second factor was turned ${isOn ? 'on' : 'off'}`,
    text: `The second factor of your Marquee account was turned ${isOn ? 'on' : 'off'}, and every other device was signed out. API keys work on.

If it was not you, choose a new password at once, and look through your API keys:

${link}
`,
  };
}

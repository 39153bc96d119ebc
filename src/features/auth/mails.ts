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
    subject: 'Confirm your e-mail address',
    text: `Somebody, hopefully you, made a Marquee account with this address.

Open this link within 24 hours and confirm it:

${link}

If it was not you, do nothing: an address that is not confirmed cannot be used.
`,
  };
}

export function resetMail(to: string, link: string): Mail {
  return {
    kind: 'reset-password',
    to,
    subject: 'Choose a new password',
    text: `Somebody, hopefully you, wants a new password for the Marquee account of this address.

Open this link within one hour and choose one:

${link}

If it was not you, do nothing: your password stays as it is.
`,
  };
}

export function passwordChangedMail(to: string, link: string): Mail {
  return {
    kind: 'password-changed',
    to,
    subject: 'Your password was changed',
    text: `The password of your Marquee account was changed, and every device was signed out. API keys work on.

If it was not you, choose a new password at once:

${link}
`,
  };
}

import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { errorMessage } from '../app/error-message.ts';
import { formErrors } from '../app/form.ts';
import { enterCode, signIn } from '../app/session.ts';

interface Props {
  /** Email of the expired session; it cannot be changed. */
  email?: string | undefined;
  onDone: () => void;
}

/** Asks for email and password, then for the code if the account uses two-factor authentication. */
export function SignInForm({ email, onDone }: Props) {
  const [challengeId, setChallengeId] = useState<string | null>(null);
  if (challengeId === null)
    return <PasswordStep email={email} onDone={onDone} onChallenge={setChallengeId} />;
  return <CodeStep challengeId={challengeId} onDone={onDone} onExpired={() => setChallengeId(null)} />;
}

function PasswordStep({ email = '', onDone, onChallenge }: Props & { onChallenge: (id: string) => void }) {
  const { t } = useTranslation();
  const form = useForm({ mode: 'uncontrolled', initialValues: { email, password: '' } });
  const [failure, setFailure] = useState<string | null>(null);
  const enter = useMutation({
    mutationFn: (values: { email: string; password: string }) => signIn(values.email, values.password),
    meta: { errors: 'form' },
    onSuccess: onDone,
    onError: (error) => {
      const { challengeId } = error.details;
      if (typeof challengeId === 'string') return onChallenge(challengeId);
      if (error.field !== null) return formErrors(form)(error);
      setFailure(errorMessage(error));
      form.getInputNode('password')?.focus();
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => enter.mutate(values))}>
      <Stack>
        <TextInput
          {...form.getInputProps('email')}
          key={form.key('email')}
          label={t('signIn.email')}
          type="email"
          autoComplete="username"
          required
          readOnly={email !== ''}
          autoFocus={email === ''}
        />
        <PasswordInput
          {...form.getInputProps('password')}
          key={form.key('password')}
          label={t('signIn.password')}
          autoComplete="current-password"
          required
          autoFocus={email !== ''}
          visibilityToggleButtonProps={{ 'aria-label': t('password.show') }}
        />
        <Failure text={failure} />
        <Button type="submit" loading={enter.isPending} fullWidth>
          {t('signIn.submit')}
        </Button>
        <ForgotLink keepsPage={email !== ''} />
      </Stack>
    </form>
  );
}

/** Links to the password reset: in another tab if the page has unsaved input. */
function ForgotLink({ keepsPage }: { keepsPage: boolean }) {
  const { t } = useTranslation();
  return (
    <Anchor
      href="/forgot-password"
      size="sm"
      ta="center"
      {...(keepsPage ? { target: '_blank', rel: 'noopener' } : {})}
    >
      {t('signIn.forgot')}
      {keepsPage && <span className="hidden-words"> {t('newTab')}</span>}
    </Anchor>
  );
}

function CodeStep({
  challengeId,
  onDone,
  onExpired,
}: {
  challengeId: string;
  onDone: () => void;
  onExpired: () => void;
}) {
  const { t } = useTranslation();
  const form = useForm({ mode: 'uncontrolled', initialValues: { code: '' } });
  const [isRecovery, setRecovery] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const enter = useMutation({
    mutationFn: ({ code }: { code: string }) => enterCode(challengeId, code.trim()),
    meta: { errors: 'form' },
    onSuccess: onDone,
    onError: (error) => {
      setFailure(error.code === 'INVALID_CREDENTIALS' ? t('signIn.wrongCode') : errorMessage(error));
      form.getInputNode('code')?.focus();
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => enter.mutate(values))}>
      <Stack>
        <Text>{isRecovery ? t('signIn.recoveryText') : t('signIn.codeText')}</Text>
        <TextInput
          {...form.getInputProps('code')}
          key={form.key('code')}
          label={isRecovery ? t('signIn.recoveryCode') : t('signIn.code')}
          autoComplete="one-time-code"
          inputMode={isRecovery ? 'text' : 'numeric'}
          required
          autoFocus
        />
        <Failure text={failure} />
        <Button type="submit" loading={enter.isPending} fullWidth>
          {t('signIn.submit')}
        </Button>
        <Button variant="subtle" onClick={() => setRecovery(!isRecovery)}>
          {isRecovery ? t('signIn.useApp') : t('signIn.useRecovery')}
        </Button>
        <Button variant="subtle" onClick={onExpired}>
          {t('signIn.startOver')}
        </Button>
      </Stack>
    </form>
  );
}

function Failure({ text }: { text: string | null }) {
  return (
    <div role="alert">
      {text !== null && (
        <Text c="var(--mantine-color-error)" size="sm">
          {text}
        </Text>
      )}
    </div>
  );
}

import { Button, CloseButton, Group, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { SignInForm } from '../components/sign-in-form.tsx';
import { formErrors } from './form.ts';
import { usePrompt } from './prompts.ts';
import { confirmPassword, useSession } from './session.ts';
import { redirectToSignIn } from './sign-out.ts';

/** Renders the dialogs above the page: sign in again, confirm the password, leave with unsaved changes. */
export default function PromptDialogs() {
  const { t } = useTranslation();
  const open = usePrompt();
  if (open === null) return null;
  const done = () => open.answer(true);
  const cancel = () => open.answer(false);
  const { prompt } = open;
  switch (prompt) {
    case 'signIn':
      return (
        <TopDialog title={t('ended.title')} onClose={cancel}>
          <SignInAgain onDone={done} />
        </TopDialog>
      );
    case 'password':
      return (
        <TopDialog title={t('password.title')} onClose={cancel}>
          <PasswordAgain onDone={done} onCancel={cancel} />
        </TopDialog>
      );
    default:
      return (
        <TopDialog title={t(`leave.${prompt}.title`)} onClose={cancel}>
          <Leave text={t(`leave.${prompt}.text`)} onLeave={done} onStay={cancel} />
        </TopDialog>
      );
  }
}

/**
 * Native dialog: it is above the page's own dialogs, whose calls may be waiting, and makes all of them inert.
 */
function TopDialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="prompt" aria-labelledby={id} onClose={onClose}>
      <Group justify="space-between" wrap="nowrap" mb="md">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        <CloseButton aria-label={t('close')} onClick={onClose} />
      </Group>
      {children}
    </dialog>
  );
}

function SignInAgain({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const session = useSession();
  return (
    <Stack>
      <Text>{t('ended.text')}</Text>
      <SignInForm email={session?.user.email} onDone={onDone} />
      <Button variant="subtle" onClick={redirectToSignIn}>
        {t('ended.other')}
      </Button>
    </Stack>
  );
}

function Leave({ text, onLeave, onStay }: { text: string; onLeave: () => void; onStay: () => void }) {
  const { t } = useTranslation();
  return (
    <Stack>
      <Text>{text}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onStay} autoFocus>
          {t('leave.stay')}
        </Button>
        <Button color="red" onClick={onLeave}>
          {t('leave.go')}
        </Button>
      </Group>
    </Stack>
  );
}

function PasswordAgain({ onDone, onCancel }: { onDone: () => void; onCancel: () => void }) {
  const { t } = useTranslation();
  const form = useForm({ mode: 'uncontrolled', initialValues: { password: '' } });
  const confirm = useMutation({
    mutationFn: confirmPassword,
    meta: { errors: 'form' },
    onSuccess: onDone,
    onError: (error) =>
      error.code === 'INVALID_CREDENTIALS'
        ? form.setFieldError('password', t('password.wrong'))
        : formErrors(form)(error),
  });
  return (
    <form onSubmit={form.onSubmit(({ password }) => confirm.mutate(password))}>
      <Stack>
        <Text>{t('password.text')}</Text>
        <PasswordInput
          {...form.getInputProps('password')}
          key={form.key('password')}
          label={t('password.label')}
          autoComplete="current-password"
          required
          autoFocus
          visibilityToggleButtonProps={{ 'aria-label': t('password.show') }}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={confirm.isPending}>
            {t('password.confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

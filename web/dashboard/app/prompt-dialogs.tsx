import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { SignInForm } from '../components/sign-in-form.tsx';
import { formErrors } from './form.ts';
import { usePrompt } from './prompts.ts';
import { confirmPassword, forgetSession, useSession } from './session.ts';

/** Above every other dialog: calls of those wait for it. */
const Z_INDEX = 1000;

/** The dialogs that stand over the page while calls wait: sign in again, the password again. */
export default function PromptDialogs() {
  const { t } = useTranslation();
  const open = usePrompt();
  const prompt = open?.prompt;
  const close = () => open?.answer(false);
  return (
    <>
      <Modal
        opened={prompt === 'signIn'}
        onClose={close}
        title={t('ended.title')}
        zIndex={Z_INDEX}
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <SignInAgain onDone={() => open?.answer(true)} />
      </Modal>
      <Modal
        opened={prompt === 'password'}
        onClose={close}
        title={t('password.title')}
        zIndex={Z_INDEX}
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <PasswordAgain onDone={() => open?.answer(true)} onCancel={close} />
      </Modal>
    </>
  );
}

function SignInAgain({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const session = useSession();
  return (
    <Stack>
      <Text>{t('ended.text')}</Text>
      <SignInForm email={session?.user.email} onDone={onDone} />
      <Button
        variant="subtle"
        onClick={() => {
          forgetSession();
          window.location.assign('/dashboard/sign-in');
        }}
      >
        {t('ended.other')}
      </Button>
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
          data-autofocus
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

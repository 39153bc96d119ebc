import { Alert, Button, Code, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { CopyField } from '../../components/copy-field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { OneTimeSecret } from '../../components/one-time-secret.tsx';
import { RowsSkeleton } from '../../components/skeletons.tsx';
import { fieldErrors } from './field-error.ts';

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }));

const refresh = () => queries.invalidateQueries({ queryKey: ['get', '/me/two-factor'] });

/** Shows whether two-factor authentication is on, and turns it on or off. */
export function SecondFactor() {
  const state = $api.useQuery('get', '/me/two-factor');
  const [recoveryCodes, setRecoveryCodes] = useState<string[] | null>(null);
  const { t } = useTranslation('account');
  if (recoveryCodes !== null) {
    return (
      <Stack>
        <Text>{t('second.codesText')}</Text>
        <OneTimeSecret
          label={t('second.codes')}
          value={recoveryCodes.join(' ')}
          onStored={() => setRecoveryCodes(null)}
        />
      </Stack>
    );
  }
  return (
    <Loaded query={state}>
      {({ data }) =>
        data.enabled ? <TurnOff codesLeft={data.recoveryCodesLeft} /> : <TurnOn onDone={setRecoveryCodes} />
      }
    </Loaded>
  );
}

function TurnOn({ onDone }: { onDone: (codes: string[]) => void }) {
  const { t } = useTranslation('account');
  const form = useForm({ initialValues: { password: '' } });
  const enrol = $api.useMutation('post', '/me/two-factor', {
    meta: { errors: 'form' },
    gcTime: 0,
    onError: fieldErrors(form, 'password', t('second.wrongPassword')),
  });
  if (enrol.data !== undefined) return <Confirm enrolment={enrol.data.data} onDone={onDone} />;
  return (
    <form onSubmit={form.onSubmit((body) => enrol.mutate({ body }))}>
      <Stack>
        <Text>{t('second.off')}</Text>
        <PasswordInput
          {...form.getInputProps('password')}
          label={t('second.password')}
          autoComplete="current-password"
          required
          visibilityToggleButtonProps={{ 'aria-label': t('second.show') }}
        />
        <Group>
          <Button type="submit" loading={enrol.isPending}>
            {t('second.turnOn')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Confirm({
  enrolment: { secret, otpauthUrl },
  onDone,
}: {
  enrolment: Shape<'TwoFactorEnrolment'>;
  onDone: (codes: string[]) => void;
}) {
  const { t } = useTranslation('account');
  const form = useForm({ initialValues: { code: '' } });
  const confirm = $api.useMutation('post', '/me/two-factor/confirm', {
    meta: { errors: 'form' },
    gcTime: 0,
    onSuccess: ({ data }) => {
      onDone(data.recoveryCodes);
      return refresh();
    },
    onError: fieldErrors(form, 'code', t('second.wrongCode')),
  });
  return (
    <form onSubmit={form.onSubmit(({ code }) => confirm.mutate({ body: { code: code.trim() } }))}>
      <Stack>
        <Text>{t('second.scan')}</Text>
        <Suspense fallback={<RowsSkeleton rows={2} />}>
          <QrCode text={otpauthUrl} label={t('second.qr')} />
        </Suspense>
        <CopyField label={t('second.secret')} value={secret} />
        <TextInput
          {...form.getInputProps('code')}
          label={t('second.code')}
          autoComplete="one-time-code"
          inputMode="numeric"
          required
        />
        <Group>
          <Button type="submit" loading={confirm.isPending}>
            {t('second.confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function TurnOff({ codesLeft }: { codesLeft: number }) {
  const { t } = useTranslation('account');
  const form = useForm({ initialValues: { password: '', code: '' } });
  const disable = $api.useMutation('delete', '/me/two-factor', {
    meta: { errors: 'form' },
    onSuccess: refresh,
    onError: fieldErrors(form, 'code', t('second.wrongEither')),
  });
  return (
    <form
      onSubmit={form.onSubmit(({ password, code }) =>
        disable.mutate({ body: { password, code: code.trim() } }),
      )}
    >
      <Stack>
        <Alert color="green">{t('second.on')}</Alert>
        <Text>
          {t('second.left')} <Code>{codesLeft}</Code>
        </Text>
        <PasswordInput
          {...form.getInputProps('password')}
          label={t('second.password')}
          autoComplete="current-password"
          required
          visibilityToggleButtonProps={{ 'aria-label': t('second.show') }}
        />
        <TextInput
          {...form.getInputProps('code')}
          label={t('second.codeOrRecovery')}
          autoComplete="one-time-code"
          required
        />
        <Group>
          <Button type="submit" color="red" variant="light" loading={disable.isPending}>
            {t('second.turnOff')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

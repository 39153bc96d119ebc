import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { CopyField } from '../../components/copy-field.tsx';
import { TextOutLink } from '../../components/links.tsx';
import { Panel } from '../../components/panel.tsx';

const ROLES = ['SPEAKER', 'VIEWER', 'HOST'] as const;
const HOURS = [1, 6] as const;
const HOUR_SEC = 3600;

/** Shows the shared link, the button to join, and personal invitation links. */
export function InvitePanel({ room }: { room: Shape<'Room'> }) {
  const { t } = useTranslation('rooms');
  return (
    <Panel title={t('invite.title')} actions={<EnterButton room={room} />}>
      <CopyField label={t('invite.link')} value={room.joinUrl} description={t('invite.linkMeans')} />
      <PersonalLink room={room} />
    </Panel>
  );
}

/** Opens the room as host, in a new tab. */
function EnterButton({ room: { id } }: { room: Shape<'Room'> }) {
  const { t } = useTranslation('rooms');
  const { data: session } = $api.useQuery('get', '/auth/session');
  const mint = $api.useMutation('post', '/rooms/{id}/tokens');
  const enter = async () => {
    // Opened during the click: later windows are blocked as pop-ups.
    const tab = window.open('about:blank', '_blank');
    const user = session?.data.user;
    const body = { identity: user?.id ?? 'host', name: user?.name ?? null, role: 'HOST' as const };
    try {
      const { data } = await mint.mutateAsync({ params: { path: { id } }, body });
      if (tab === null) window.location.assign(data.url);
      else {
        tab.opener = null;
        tab.location.href = data.url;
      }
    } catch {
      // A toast has already shown the error.
      tab?.close();
    }
  };
  return (
    <Button onClick={() => void enter()} loading={mint.isPending}>
      {t('invite.enter')}
    </Button>
  );
}

function PersonalLink({ room }: { room: Shape<'Room'> }) {
  const { t } = useTranslation('rooms');
  const [made, setMade] = useState<{ name: string; url: string } | null>(null);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', role: 'SPEAKER', hours: '1' },
  });
  const mint = $api.useMutation('post', '/rooms/{id}/tokens', {
    meta: { errors: 'form' },
    onError: formErrors(form, { identity: 'name' }),
  });
  const submit = async (values: { name: string; role: string; hours: string }) => {
    const name = values.name.trim();
    const role = ROLES.find((one) => one === values.role) ?? 'SPEAKER';
    const body = { identity: crypto.randomUUID(), name, role, ttlSec: Number(values.hours) * HOUR_SEC };
    const answer = await mint.mutateAsync({ params: { path: { id: room.id } }, body }).catch(() => null);
    if (answer === null) return;
    setMade({ name, url: answer.data.url });
    form.reset();
  };
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))}>
      <Stack>
        <Text fw={500}>{t('invite.personal')}</Text>
        <Text size="sm">{t('invite.personalMeans')}</Text>
        <TextInput
          {...form.getInputProps('name')}
          key={form.key('name')}
          label={t('invite.name')}
          maxLength={120}
          dir="auto"
          required
        />
        <Group grow align="flex-start">
          <NativeSelect
            {...form.getInputProps('role')}
            key={form.key('role')}
            size="md"
            label={t('invite.role')}
            data={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
          />
          <NativeSelect
            {...form.getInputProps('hours')}
            key={form.key('hours')}
            size="md"
            label={t('invite.hours')}
            data={HOURS.map((hours) => ({ value: String(hours), label: t(`invite.hours${hours}`) }))}
          />
        </Group>
        <Group justify="flex-end">
          <EditButton type="submit" variant="default" loading={mint.isPending}>
            {t('invite.make')}
          </EditButton>
        </Group>
        {made !== null && (
          <Stack gap="xs" role="status">
            <CopyField label={t('invite.made', { name: made.name })} value={made.url} />
            <TextOutLink href={made.url}>{t('invite.open')}</TextOutLink>
          </Stack>
        )}
      </Stack>
    </form>
  );
}

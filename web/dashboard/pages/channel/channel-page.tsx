import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { CopyField } from '../../components/copy-field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Banner } from './banner.tsx';

type Channel = Shape<'Channel'>;

const ME = { params: { path: { id: 'me' } } };
const MOST_LINKS = 10;

const refresh = () => queries.invalidateQueries({ queryKey: ['get', '/channels/{id}'] });

/** Edits the public profile of the channel. */
export function ChannelPage() {
  const { t } = useTranslation('channel');
  const channel = $api.useQuery('get', '/channels/{id}', ME);
  return (
    <Stack>
      <PageHeader title={t('title')} description={t('description')} />
      <Loaded query={channel}>
        {({ data }) => (
          <>
            {data.url === null ? (
              <Text>{t('noPage')}</Text>
            ) : (
              <CopyField label={t('address')} value={data.url} />
            )}
            <Panel title={t('banner.title')}>
              <Banner url={data.bannerUrl} onChanged={refresh} />
            </Panel>
            <Panel title={t('about')}>
              <Fields channel={data} />
            </Panel>
          </>
        )}
      </Loaded>
    </Stack>
  );
}

interface Values {
  displayName: string;
  description: string;
  links: { label: string; url: string }[];
}

function Fields({ channel }: { channel: Pick<Channel, 'displayName' | 'description' | 'links'> }) {
  const { t } = useTranslation('channel');
  const form = useForm<Values>({
    initialValues: {
      displayName: channel.displayName,
      description: channel.description ?? '',
      links: channel.links,
    },
  });
  useUnsaved(form);
  const save = $api.useMutation('patch', '/channels/{id}', {
    meta: { errors: 'form' },
    onSuccess: () => {
      form.resetDirty();
      showSuccess(t('saved'));
      return refresh();
    },
    onError: formErrors(form),
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ displayName, description, links }) =>
        save.mutate({ ...ME, body: { displayName: displayName.trim() || null, description, links } }),
      )}
    >
      <Stack>
        <TextInput
          {...form.getInputProps('displayName')}
          label={t('displayName')}
          description={t('displayNameHint')}
          maxLength={80}
          dir="auto"
        />
        <Textarea
          {...form.getInputProps('description')}
          label={t('text')}
          maxLength={5000}
          minRows={3}
          autosize
          dir="auto"
        />
        <Links form={form} />
        <Group>
          <EditButton type="submit" loading={save.isPending}>
            {t('save')}
          </EditButton>
        </Group>
      </Stack>
    </form>
  );
}

function Links({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('channel');
  const { links } = form.getValues();
  return (
    <Stack gap="xs" component="fieldset" bd="none" p={0} m={0}>
      <Text component="legend" fw={500} p={0}>
        {t('links.title')}
      </Text>
      {links.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a link is identified by its position.
        <Group key={index} align="flex-end">
          <TextInput
            {...form.getInputProps(`links.${index}.label`)}
            label={t('links.label', { number: index + 1 })}
            maxLength={50}
            dir="auto"
          />
          <TextInput
            {...form.getInputProps(`links.${index}.url`)}
            label={t('links.url', { number: index + 1 })}
            maxLength={2048}
            dir="ltr"
          />
          <Button
            variant="default"
            aria-label={t('links.removeOne', { number: index + 1 })}
            onClick={() => form.removeListItem('links', index)}
          >
            {t('links.remove')}
          </Button>
        </Group>
      ))}
      {links.length < MOST_LINKS && (
        <Group>
          <Button variant="default" onClick={() => form.insertListItem('links', { label: '', url: '' })}>
            {t('links.add')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

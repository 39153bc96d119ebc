import { Avatar, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api, api, queries } from '../../app/api.ts';
import { ImagePicker } from '../../components/image-picker.tsx';

const refresh = () =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ['get', '/me/avatar'] }),
    queries.invalidateQueries({ queryKey: ['get', '/me'] }),
  ]);

/** Sends a file in a multipart body, which the types of the client do not support. */
function send(file: File) {
  const form = new FormData();
  form.append('file', file);
  return api.PUT('/me/avatar', { body: {}, bodySerializer: () => form });
}

export function Picture() {
  const { t } = useTranslation('account');
  const avatar = $api.useQuery('get', '/me/avatar');
  const put = useMutation({ mutationFn: send, onSuccess: refresh });
  const remove = $api.useMutation('delete', '/me/avatar', { onSuccess: refresh });
  const url = avatar.data?.data.avatarUrl ?? null;
  return (
    <Group>
      <Avatar src={url} size={72} alt={url === null ? '' : t('picture.alt')} />
      <ImagePicker
        word={(name) => t(`picture.${name}`)}
        hasPicture={url !== null}
        put={put}
        remove={remove}
        onRemove={() => remove.mutateAsync({})}
      />
    </Group>
  );
}

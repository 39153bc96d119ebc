import { Alert, Group, Stack, Text } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { ApiError } from '../../app/api-error.ts';
import type { Shape } from '../../app/shape.ts';
import { showError, showSuccess } from '../../app/toasts.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { CopyField } from '../../components/copy-field.tsx';
import { IdLine } from '../../components/id-line.tsx';
import { TextLink, TextOutLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { ProductBadge } from './badges.tsx';
import { CohortsPanel } from './cohorts-panel.tsx';
import { ProductForm } from './product-form.tsx';
import { TimesPanel } from './times-panel.tsx';

type Product = Shape<'BookingProduct'>;

/** Shows one product: publish it, list its bookable times, edit it, delete it. */
export function ProductPage() {
  const { t } = useTranslation('booking');
  const { id } = useParams({ from: '/workspace/booking/products/$id' });
  const query = $api.useQuery('get', '/booking/products/{id}', { params: { path: { id } } });
  const product = query.data?.data;
  return (
    <Stack>
      <TextLink to="/booking/products" size="sm">
        {t('product.back')}
      </TextLink>
      <PageHeader
        title={product?.title ?? t('product.page')}
        actions={product && <ProductBadge status={product.status} />}
      />
      <Loaded query={query}>{({ data }) => <Whole product={data} />}</Loaded>
    </Stack>
  );
}

function Whole({ product }: { product: Product }) {
  const { t } = useTranslation('booking');
  const isArchived = product.status === 'ARCHIVED';
  return (
    <>
      {isArchived ? <Text>{t('product.isArchived')}</Text> : <PublishPanel product={product} />}
      {product.type === 'COHORT' ? (
        <CohortsPanel product={product} />
      ) : (
        !isArchived && <TimesPanel product={product} />
      )}
      {!isArchived && (
        // Remounted after each save so that the form shows the stored values.
        <ProductForm key={product.updatedAt} product={product} onSaved={() => {}} />
      )}
      {!isArchived && <EndPanel product={product} />}
      <IdLine id={product.id} label={t('product.copyId')} />
    </>
  );
}

function refreshProduct(): Promise<unknown> {
  const paths = ['/booking/products', '/booking/products/{id}'] as const;
  return Promise.all(paths.map((path) => queries.invalidateQueries({ queryKey: ['get', path] })));
}

/** Parts required before a product can be published. */
const MISSING = ['availability', 'cohorts'] as const;
type Missing = (typeof MISSING)[number];

function PublishPanel({ product: { id, status, url } }: { product: Product }) {
  const { t } = useTranslation('booking');
  const params = { params: { path: { id } } };
  const [missing, setMissing] = useState<Missing | null>(null);
  const publish = $api.useMutation('post', '/booking/products/{id}/publish', {
    meta: { errors: 'form' },
    onError: (error: unknown) => {
      const field = error instanceof ApiError ? error.field : null;
      const found = MISSING.find((name) => name === field);
      if (found === undefined) return showError(error);
      setMissing(found);
    },
    onSuccess: () => {
      setMissing(null);
      return refreshProduct();
    },
  });
  const unpublish = $api.useMutation('post', '/booking/products/{id}/unpublish', {
    onSuccess: refreshProduct,
  });
  return (
    <Panel title={t('publish.title')}>
      <Text role="status">{status === 'PUBLISHED' ? t('publish.isOpen') : t('publish.isDraft')}</Text>
      {url !== null && (
        <>
          <CopyField label={t('publish.link')} value={url} />
          <TextOutLink href={url}>{t('publish.open')}</TextOutLink>
        </>
      )}
      {missing !== null && (
        <Alert color="yellow" role="alert" title={t(`missing.${missing}`)}>
          {missing === 'availability' && (
            <TextLink to="/booking/availability">{t('missing.toAvailability')}</TextLink>
          )}
        </Alert>
      )}
      <Group>
        {status === 'PUBLISHED' ? (
          <EditButton
            variant="default"
            loading={unpublish.isPending}
            onClick={() => unpublish.mutate(params)}
          >
            {t('publish.withdraw')}
          </EditButton>
        ) : (
          <EditButton loading={publish.isPending} onClick={() => publish.mutate(params)}>
            {t('publish.now')}
          </EditButton>
        )}
      </Group>
    </Panel>
  );
}

function EndPanel({ product: { id, title, bookingCount } }: { product: Product }) {
  const { t } = useTranslation('booking');
  const navigate = useNavigate();
  const isUnused = bookingCount === 0;
  const end = $api.useMutation('delete', '/booking/products/{id}', {
    onSuccess: () => {
      showSuccess(isUnused ? t('end.deleted') : t('end.archived'));
      void refreshProduct();
      return navigate({ to: '/booking/products' });
    },
  });
  return (
    <Panel title={isUnused ? t('end.delete') : t('end.archive')}>
      <Text>{isUnused ? t('end.deleteText') : t('end.archiveText')}</Text>
      <div>
        <ConfirmAction
          label={isUnused ? t('end.delete') : t('end.archive')}
          title={isUnused ? t('end.deleteTitle', { title }) : t('end.archiveTitle', { title })}
          text={isUnused ? t('end.deleteText') : t('end.archiveText')}
          isPending={end.isPending}
          onConfirm={() => end.mutateAsync({ params: { path: { id } } })}
        />
      </div>
    </Panel>
  );
}

import { useState } from 'preact/hooks'
import { KeyRound } from 'lucide'
import { api } from '../../api/client.ts'
import { isAdmin } from '../../live/session.ts'
import { Page } from '../../ui/page.tsx'
import { PagedList } from '../../ui/paged-list.tsx'
import { Empty } from '../../ui/states.tsx'
import { usePages } from '../../ui/use-pages.ts'
import { EditKey } from './edit-key.tsx'
import { IdentifyKey } from './identify-key.tsx'
import { KeyTable, type KeyDialog } from './key-table.tsx'
import { NewKey } from './new-key.tsx'
import { RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'
import './keys.css'

export function KeysPage() {
  const [open, setOpen] = useState<KeyDialog>()
  const list = usePages(
    (cursor, signal) => api.get('/keys', { query: { ...(cursor && { cursor }) }, signal }),
    [],
  )
  const close = () => setOpen(undefined)
  return (
    <Page
      title="Keys"
      wide
      actions={
        isAdmin.value && (
          <>
            <button type="button" onClick={() => setOpen({ kind: 'identify' })}>
              Which key is this?
            </button>
            <button type="button" class="primary" onClick={() => setOpen({ kind: 'new' })}>
              New key
            </button>
          </>
        )
      }
    >
      <PagedList list={list} empty={<NoKeys />}>
        {(keys) => <KeyTable keys={keys} open={setOpen} />}
      </PagedList>
      {open !== undefined && <OpenDialog open={open} onDone={list.reload} onClose={close} />}
    </Page>
  )
}

function NoKeys() {
  return (
    <Empty title="There is no key yet" icon={KeyRound}>
      <p>
        Whatever sends reports needs one.{' '}
        {isAdmin.value ? (
          <a href="/connect">Connect a device</a>
        ) : (
          'Ask an admin of your account to make one.'
        )}
      </p>
    </Empty>
  )
}

function OpenDialog({
  open,
  onDone,
  onClose,
}: {
  open: KeyDialog
  onDone: () => void
  onClose: () => void
}) {
  switch (open.kind) {
    case 'new':
      return <NewKey onMade={onDone} onClose={onClose} />
    case 'identify':
      return <IdentifyKey onClose={onClose} />
    case 'edit':
      return <EditKey of={open.key} onDone={onDone} onClose={onClose} />
    case 'rotate':
      return <RotateKey of={open.key} onDone={onDone} onClose={onClose} />
    case 'revoke':
      return <RevokeKey of={open.key} onDone={onDone} onClose={onClose} />
  }
}

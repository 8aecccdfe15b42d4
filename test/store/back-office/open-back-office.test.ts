import { describe } from '@jest/globals'
import { auditContract, auditTurnsContract } from '../../contracts/store-audit.ts'
import { auditErasuresContract } from '../../contracts/store-audit-erasures.ts'
import { definitionsContract } from '../../contracts/store-definitions.ts'
import { handlingsContract } from '../../contracts/store-handlings.ts'
import { instancesContract } from '../../contracts/store-instances.ts'
import { keyRotationContract } from '../../contracts/store-key-rotation.ts'
import { keysContract } from '../../contracts/store-keys.ts'
import { operatorChangesContract } from '../../contracts/store-operator-changes.ts'
import { operatorsContract } from '../../contracts/store-operators.ts'
import { outdatedContract } from '../../contracts/store-outdated.ts'
import { rejectionsContract } from '../../contracts/store-rejections.ts'
import { sharesContract } from '../../contracts/store-shares.ts'
import { subscriptionsContract } from '../../contracts/store-subscriptions.ts'
import { storeSuite } from '../../contracts/store-suite.ts'
import { statementsStayFast } from '../../runtime/sqlite/statements-stay-fast.ts'
import { openTemporaryStore } from '../sqlite/open-sqlite-store.ts'
import { SLOW_STATEMENTS } from '../sqlite/slow-statements.ts'

statementsStayFast(backOfficeContract, SLOW_STATEMENTS)

function backOfficeContract(): void {
  describe('the back office on the documents of SQLite', () => {
    const suite = storeSuite(openTemporaryStore)
    keysContract(suite)
    keyRotationContract(suite)
    operatorsContract(suite)
    operatorChangesContract(suite)
    sharesContract(suite)
    auditContract(suite)
    auditErasuresContract(suite)
    auditTurnsContract(suite)
    rejectionsContract(suite)
    instancesContract(suite)
    outdatedContract(suite)
    definitionsContract(suite)
    subscriptionsContract(suite)
    handlingsContract(suite)
  })
}

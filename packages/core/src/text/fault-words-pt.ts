import type { FaultWords } from "./fault-text.ts";

/** What the faults of the table say, and what to do next, in Portuguese. */
export const FAULT_WORDS_PT: FaultWords = {
  BAD_REQUEST: ["O pedido não está bem formado.", "Corrija o que a mensagem aponta."],
  NOT_FOUND: ["Isso não existe aqui.", "Procure na lista: vidro runs list"],
  CONFLICT: ["Isso não combina com o que há agora.", "Leia de novo e repita o pedido."],
  PAYLOAD_TOO_LARGE: ["A entrada passa do limite.", "Envie menos, ou em partes."],
  AUTH_REQUIRED: ["É preciso um token.", "Envie-o: Authorization: Bearer <token>"],
  INVALID_TOKEN: ["O token não é conhecido aqui, ou já não vale.", "Crie outro: vidro tokens create"],
  TOKEN_EXPIRED: ["O token expirou.", "Crie outro: vidro tokens create"],
  FORBIDDEN: ["O token não pode fazer isso.", "Use um com o escopo indicado."],
  SIGNATURE_INVALID: [
    "A mensagem não está assinada como deve.",
    "Confira a chave da mão, ou convide a máquina de novo: vidro hands invite",
  ],
  CLOCK_SKEW: [
    "Os relógios das duas máquinas estão longe demais um do outro.",
    "Acerte o relógio da máquina; a resposta traz o nosso.",
  ],
  RATE_LIMITED: ["Há pedidos demais de uma vez.", "Espere o tempo que a resposta indica."],
  KEYS_UNAVAILABLE: [
    "As chaves que assinam os tokens das pessoas não podem ser lidas.",
    "Confira o endereço do conjunto de chaves.",
  ],
  METHOD_NOT_ALLOWED: ["Este caminho não aceita esse método.", "Use um dos que Allow indica."],
  NOT_ACCEPTABLE: ["Nenhuma forma da resposta serve ao cliente.", "Aceite JSON."],
  UNSUPPORTED_MEDIA_TYPE: ["O corpo não é JSON.", "Envie application/json em UTF-8."],
  MISDIRECTED: ["Este cérebro não atende por esse nome de máquina.", "Indique-o em VIDRO_HOSTS."],
  SHUTTING_DOWN: ["O cérebro está sendo desligado.", "Tente de novo daqui a pouco."],
  BRAIN_UNREACHABLE: ["O cérebro não pode ser alcançado.", "Veja se ele está no ar: vidro status; inicie-o: vidro up"],
  CONNECTION_LOST: ["A conexão com o cérebro se perdeu.", "A execução pode estar continuando: vidro attach"],
  INTERNAL_ERROR: ["A falha é do próprio Vidro.", "Informe o id de rastreio; o log tem o resto."],
  MODEL_UNAVAILABLE: [
    "O modelo não pode ser alcançado.",
    "Tente de novo, confira o endereço (vidro doctor), ou indique um segundo modelo como reserva: VIDRO_MODEL=first,second",
  ],
  MODEL_TIMEOUT: ["O modelo não respondeu a tempo.", "Tente de novo, ou escolha outro: VIDRO_MODEL"],
  MODEL_CUT: ["A resposta do modelo foi interrompida.", "Tente de novo, ou escolha outro: VIDRO_MODEL"],
  MODEL_RATE_LIMITED: ["O servidor do modelo pede mais calma.", "Espere, ou escolha outro: VIDRO_MODEL"],
  MODEL_RUBBISH: ["A resposta do modelo não pode ser entendida.", "Tente de novo, ou escolha outro: VIDRO_MODEL"],
  ANSWER_UNFIT: [
    "A resposta do modelo não tem a forma pedida, mesmo depois de pedida outra vez.",
    "Peça uma forma mais simples, ou escolha outro modelo: VIDRO_MODEL",
  ],
  MODEL_REFUSED: [
    "O servidor do modelo recusou o pedido.",
    "Confira o nome e a configuração do modelo (vidro doctor), ou escolha outro: VIDRO_MODEL",
  ],
  MODEL_KEY_MISSING: [
    "O fornecedor do modelo quer uma chave, e não há nenhuma.",
    "Defina a chave onde o cérebro é iniciado; um daemon no ar fica sabendo com vidro restart, ou escolha outro: VIDRO_MODEL",
  ],
  MODEL_KEY_REFUSED: [
    "O servidor do modelo recusou a chave.",
    "Defina de novo a chave do fornecedor; vidro config explain diz de onde ela vem.",
  ],
  MODEL_UNPAID: [
    "A conta no fornecedor do modelo está sem crédito ou sem cota.",
    "Aumente o limite no fornecedor, ou escolha outro: VIDRO_MODEL",
  ],
  MODEL_CONTEXT_FULL: [
    "A conversa é mais longa do que o modelo consegue ler, mesmo depois de encurtada.",
    "Dê uma tarefa menor, ou escolha um modelo com janela maior: VIDRO_MODEL",
  ],
  MODEL_TOOLLESS: [
    "O servidor do modelo não aceita ferramentas.",
    "Inicie llama.cpp com --jinja ou vLLM com --enable-auto-tool-choice, ou escolha outro: VIDRO_MODEL",
  ],
  MODEL_HISTORY_REFUSED: [
    "O servidor do modelo recusou a conversa até aqui.",
    "Comece a tarefa de novo, ou escolha outro: VIDRO_MODEL",
  ],
  MODEL_WITHHELD: ["O modelo reteve a resposta.", "Diga a tarefa com outras palavras, ou escolha outro: VIDRO_MODEL"],
  MODEL_UNPRICED: [
    "Não se sabe quanto o modelo custa, e assim um limite de custo não pode ser cumprido.",
    "Defina VIDRO_MODEL_PRICE ou model_facts, indique outro modelo com --model, ou limite os tokens: --max-tokens",
  ],
  MODEL_UNKNOWN: ["Nenhum modelo atende por esse nome.", "Veja o que VIDRO_MODEL pode ser: vidro doctor"],
  UNKNOWN_TOOL: ["Essa ferramenta não existe no conjunto.", "Use uma das ferramentas da lista."],
  BAD_ARGUMENTS: ["Os argumentos não servem para a ferramenta.", "Corrija o que a mensagem aponta."],
  TOOL_FAILED: ["A ferramenta não conseguiu.", "Leia a mensagem e tente de outro jeito."],
  POLICY_DENIED: ["A política desta mão proíbe isso.", "Veja por quê: vidro policy explain"],
  BAD_POLICY: [
    "O arquivo da política não pode ser usado, e por isso nada é permitido.",
    "Confira-o: vidro policy check",
  ],
  APPROVAL_DENIED: ["Uma pessoa disse não.", "Peça de outro jeito, ou deixe estar."],
  APPROVAL_UNASKED: [
    "Isso precisa de aprovação, e não havia a quem perguntar.",
    "Rode num terminal e responda lá, ou aprove antes com --yes.",
  ],
  APPROVAL_EXPIRED: [
    "Nenhuma resposta chegou a tempo, e isso vale como não.",
    "Pergunte de novo quando uma pessoa puder responder.",
  ],
  APPROVAL_INVALID: [
    "A aprovação não é do cérebro desta mão para exatamente esta execução, ação e plano; nada foi executado.",
    "Veja o que dá ordens a esta mão; um cérebro de versão mais antiga precisa ser atualizado.",
  ],
  SECRET_IN_ACTION: [
    "A ação contém um segredo, ou a marca no lugar de um, e não faria o que parece.",
    "Indique o segredo em vez de escrevê-lo: uma variável de ambiente, um arquivo.",
  ],
  PLAN_CHANGED: ["O que seria executado já não é o que foi aprovado.", "Peça a aprovação de novo."],
  ACTION_ID_REUSED: ["O id da ação pertence a outra ação.", "Use um id novo."],
  ACTION_EXPIRED: ["A ação chegou tarde demais e não foi executada.", "Decida de novo com fatos novos."],
  OUTCOME_UNKNOWN: [
    "A ação começou e o resultado dela não pode ser conhecido.",
    "Olhe na máquina; ela nunca é repetida sozinha.",
  ],
  OUTCOME_EVICTED: [
    "A ação terminou há muito tempo e o resultado já não é guardado.",
    "Olhe na máquina; ela nunca é repetida sozinha.",
  ],
  STALE_EPOCH: ["Um cérebro mais antigo deu esta ordem; um mais novo está no comando.", "Pare o cérebro mais antigo."],
  LEDGER_UNWRITABLE: [
    "A mão não consegue registrar o que faz, e por isso não faz nada.",
    "Libere espaço no disco da máquina: df -h",
  ],
  LEDGER_DAMAGED: [
    "O livro da mão está danificado, e por isso ela não faz nada.",
    "Tire-o do lugar na máquina: o que estava em andamento fica sem resultado conhecido, e nada roda duas vezes.",
  ],
  HAND_UNAVAILABLE: ["A mão não pode ser alcançada.", "Inicie-a de novo; a ação continua com o mesmo id."],
  HAND_REVOKED: [
    "A mão foi revogada e não faz mais nada para este cérebro.",
    "Convide a máquina de novo: vidro hands invite",
  ],
  CERTIFICATE_INVALID: [
    "O certificado não é um que este cérebro deu a uma mão, ou já não vale.",
    "Convide a máquina de novo: vidro hands invite",
  ],
  HAND_QUARANTINED: [
    "A mão está em quarentena e não recebe trabalho novo.",
    "Veja por quê: vidro hands show; libere-a: vidro hands release",
  ],
  STORAGE_FULL: ["O disco do diário está cheio.", "Libere espaço no disco e depois: vidro attach --last"],
  STORE_BUSY: ["Outro processo mantém o armazenamento travado.", "Repita quando ele tiver terminado."],
  STORE_FAILED: ["O disco do diário relata um erro.", "Olhe o disco: dmesg"],
  STORE_UNREACHABLE: [
    "O banco de dados do armazenamento não pode ser alcançado.",
    "Veja se ele está no ar, e se o endereço em VIDRO_STORE está certo.",
  ],
  COMMIT_UNKNOWN: [
    "O disco falhou durante a gravação: não se sabe se isto foi registrado.",
    "Veja se foi, ou repita o pedido com o mesmo Idempotency-Key.",
  ],
  STORE_UNREADABLE: ["O armazenamento não pode ser aberto.", "Veja o que há: vidro doctor"],
  STORE_NEWER: [
    "Um Vidro mais novo gravou este armazenamento.",
    "Rode aquela versão, ou aponte VIDRO_HOME para outro lugar.",
  ],
  STORE_RESTORED: [
    "O cérebro voltou de um backup, e esta execução não continuou depois dele.",
    "Veja o que ela fez e comece-a de novo.",
  ],
  JOURNAL_CORRUPT: ["O diário desta execução foi alterado ou danificado.", "Veja onde: vidro audit verify"],
  PORT_TAKEN: [
    "Outro programa escuta nessa porta.",
    "Pare esse programa, ou escolha outra porta; a porta 0 pega uma livre: vidro up --port 0",
  ],
  HOME_BUSY: ["Esta pasta já tem um daemon.", "Veja como ele está: vidro status"],
  LEASE_LOST: ["Outro cérebro assumiu esta execução.", "Acompanhe-a: vidro attach"],
  RUN_BUSY: ["Outro processo conduz esta execução.", "Espere por ele, ou pare a execução lá."],
  LOOP_DETECTED: [
    "O modelo pediu a mesma coisa repetidas vezes.",
    "Diga a tarefa de outro jeito, ou use um modelo mais forte.",
  ],
  STEP_LIMIT: ["A execução deu tantos passos quantos pode.", "Divida a tarefa, ou aumente --max-steps."],
  TOKEN_LIMIT: ["A execução usou tantos tokens quantos pode.", "Divida a tarefa, ou aumente --max-tokens."],
  COST_LIMIT: [
    "A execução custou tanto quanto pode.",
    "Divida a tarefa, indique um modelo mais barato com --model, ou aumente --max-cost.",
  ],
  THREAD_COST_LIMIT: [
    "A conversa custou tanto quanto pode.",
    "Comece outra conversa, ou aumente max_thread_cost (--max-thread-cost); veja o que ela custou: vidro runs usage --by thread",
  ],
  DAY_COST_LIMIT: [
    "Os modelos custaram hoje tanto quanto podem.",
    "Continue depois da meia-noite UTC, indique um modelo sem custo com --model, ou aumente max_day_cost e reinicie o daemon; veja o que foi usado: vidro runs usage",
  ],
  TIME_LIMIT: ["A execução levou tanto tempo quanto pode.", "Divida a tarefa, ou aumente --max-minutes."],
  ACTION_LIMIT: ["A execução fez tantas ações quantas pode.", "Divida a tarefa, ou aumente --max-actions."],
};

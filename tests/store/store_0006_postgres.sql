-- A store as the last version before the first release left it (schema 0006): pg_dump --inserts, without its SETs.
CREATE FUNCTION public.ends_a_session() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN DELETE FROM checkpoint WHERE run_id = NEW.id; RETURN NULL; END $$;
CREATE FUNCTION public.refuses_a_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE integrity_constraint_violation USING MESSAGE = TG_ARGV[0]; END $$;
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.approval (
    id character varying NOT NULL,
    run_id character varying NOT NULL,
    question_id character varying NOT NULL,
    "position" integer NOT NULL,
    step character varying NOT NULL,
    arguments character varying NOT NULL,
    approved boolean NOT NULL,
    until_done boolean NOT NULL,
    expires timestamp with time zone,
    by character varying NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.attempt (
    run_id character varying NOT NULL,
    number integer NOT NULL,
    host character varying NOT NULL,
    keeper character varying NOT NULL,
    worker character varying,
    driver character varying,
    browser character varying,
    page character varying,
    source character varying,
    packages character varying,
    began timestamp with time zone NOT NULL,
    ended timestamp with time zone,
    how character varying,
    present character varying,
    beaten timestamp with time zone,
    progressed timestamp with time zone,
    attested timestamp with time zone,
    progress character varying,
    attested_by character varying
);
CREATE TABLE public.audit (
    seq integer NOT NULL,
    run_id character varying,
    kind character varying NOT NULL,
    prev character varying NOT NULL,
    hash character varying NOT NULL,
    body bytea NOT NULL
);
CREATE TABLE public.blob (
    digest character varying NOT NULL,
    media_type character varying NOT NULL,
    size integer NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.checkpoint (
    run_id character varying NOT NULL,
    purpose character varying NOT NULL,
    attempt integer NOT NULL,
    sealed bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    shown character varying DEFAULT '{}'::character varying NOT NULL
);
CREATE TABLE public.gesture (
    id character varying NOT NULL,
    run_id character varying NOT NULL,
    step_id character varying NOT NULL,
    number integer NOT NULL,
    attempt integer NOT NULL,
    state character varying NOT NULL,
    kind character varying NOT NULL,
    words character varying NOT NULL,
    site character varying,
    sends character varying,
    intent character varying NOT NULL,
    baseline character varying,
    before character varying,
    after character varying,
    target_box character varying,
    change character varying,
    guarded boolean NOT NULL,
    wire character varying,
    sender_dead_at timestamp with time zone,
    "values" character varying,
    count integer,
    reasons character varying,
    proven_by character varying,
    intent_at timestamp with time zone NOT NULL,
    dispatched_at timestamp with time zone,
    settled_at timestamp with time zone,
    approval character varying,
    reverse character varying
);
CREATE TABLE public.keeper (
    id character varying NOT NULL,
    host character varying NOT NULL,
    process character varying NOT NULL,
    concurrency integer NOT NULL,
    began timestamp with time zone NOT NULL,
    beaten timestamp with time zone NOT NULL,
    ended timestamp with time zone
);
CREATE TABLE public.login (
    site character varying NOT NULL,
    account character varying NOT NULL,
    sealed bytea NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.observation (
    id character varying NOT NULL,
    run_id character varying NOT NULL,
    gesture_id character varying NOT NULL,
    attempt integer NOT NULL,
    look integer NOT NULL,
    "position" integer NOT NULL,
    observation character varying NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.place (
    id integer NOT NULL,
    store character varying NOT NULL,
    address character varying NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.place_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.place_id_seq OWNED BY public.place.id;
CREATE TABLE public.question (
    id character varying NOT NULL,
    run_id character varying NOT NULL,
    step_id character varying,
    gesture_id character varying,
    kind character varying NOT NULL,
    state character varying NOT NULL,
    words character varying NOT NULL,
    reasons character varying NOT NULL,
    evidence character varying NOT NULL,
    details character varying NOT NULL,
    last_confirmed character varying NOT NULL,
    safe_step character varying NOT NULL,
    earliest_safe timestamp with time zone,
    asked_at timestamp with time zone NOT NULL,
    answer character varying,
    by character varying,
    reason character varying,
    "values" character varying,
    override boolean NOT NULL,
    ended_at timestamp with time zone
);
CREATE TABLE public.release (
    id integer NOT NULL,
    gesture_id character varying NOT NULL,
    attempt integer NOT NULL,
    method character varying NOT NULL,
    address character varying NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.release_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.release_id_seq OWNED BY public.release.id;
CREATE TABLE public.run (
    id character varying NOT NULL,
    key character varying,
    task_file character varying NOT NULL,
    task_name character varying NOT NULL,
    arguments character varying NOT NULL,
    sites character varying NOT NULL,
    state character varying NOT NULL,
    attempt integer NOT NULL,
    token character varying NOT NULL,
    lease_until double precision NOT NULL,
    result character varying,
    ended_by character varying,
    created timestamp with time zone NOT NULL,
    updated timestamp with time zone NOT NULL,
    submitted_by character varying,
    queued boolean DEFAULT false NOT NULL,
    not_before timestamp with time zone,
    budget integer,
    deaths integer DEFAULT 0 NOT NULL,
    looks integer DEFAULT 0 NOT NULL,
    look_after timestamp with time zone
);
CREATE TABLE public.step (
    id character varying NOT NULL,
    run_id character varying NOT NULL,
    seq integer NOT NULL,
    bookmark character varying NOT NULL,
    name character varying NOT NULL,
    words character varying NOT NULL,
    arguments character varying NOT NULL,
    writes boolean NOT NULL,
    state character varying NOT NULL,
    value character varying,
    raised character varying,
    marked character varying,
    attempt integer NOT NULL,
    began timestamp with time zone NOT NULL,
    ended timestamp with time zone,
    files character varying
);
ALTER TABLE ONLY public.place ALTER COLUMN id SET DEFAULT nextval('public.place_id_seq'::regclass);
ALTER TABLE ONLY public.release ALTER COLUMN id SET DEFAULT nextval('public.release_id_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0006');
INSERT INTO public.approval VALUES ('y-58ajsbe9', 'run-9zau8a2h', 'q-6sabh', 0, 'post_invoice@1', '{"id": "S-101"}', true, false, '2026-12-03 06:49:20.206905+05:30', 'bob', '2026-11-30 17:30:00+05:30');
INSERT INTO public.attempt VALUES ('run-8ajbuzw9', 1, 'old-host', '{"pid": 1, "started": 1.0}', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-30 17:30:00+05:30', NULL, NULL, NULL, '2026-12-03 05:49:17.192956+05:30', NULL, NULL, NULL, NULL);
INSERT INTO public.attempt VALUES ('run-8ajbuzw9', 2, 'old-host', '{"pid": 1, "started": 1.0}', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-30 17:30:00+05:30', NULL, NULL, NULL, '2026-12-03 05:49:18.44805+05:30', NULL, NULL, NULL, NULL);
INSERT INTO public.attempt VALUES ('run-ea7quuzx', 1, 'old-host', '{"pid": 1, "started": 1.0}', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-30 17:30:00+05:30', NULL, NULL, NULL, '2026-12-03 05:49:18.775609+05:30', NULL, NULL, NULL, NULL);
INSERT INTO public.attempt VALUES ('run-9zau8a2h', 1, 'old-host', '{"pid": 1, "started": 1.0}', NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-30 17:30:00+05:30', NULL, NULL, NULL, '2026-12-03 05:49:19.876018+05:30', NULL, NULL, NULL, NULL);
INSERT INTO public.audit VALUES (1, 'run-8ajbuzw9', 'run_submitted', '0000000000000000000000000000000000000000000000000000000000000000', '8f0056b9e3dd68d995399a6ff2831090563f529276414c2935c02e5e62c92d7d', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c2266696c65223a22696e766f696365732e7079222c226b6579223a22736574746c6564222c226b696e64223a2272756e5f7375626d6974746564222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d38616a62757a7739222c22746f6f6c223a22696e766f6963655f736869706d656e7473227d');
INSERT INTO public.audit VALUES (2, 'run-8ajbuzw9', 'taken_over', '8f0056b9e3dd68d995399a6ff2831090563f529276414c2935c02e5e62c92d7d', 'bc67b7a2dc5016c5e31edbcd6a2153990d8f52d8247816044e21655b29d4b4d0', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c226b6565706572223a227b5c227069645c223a20312c205c22737461727465645c223a20312e307d222c226b696e64223a2274616b656e5f6f766572222c226d6f6e6f746f6e6963223a3130302c2270726573656e74223a226e6f626f6479222c2272756e223a2272756e2d38616a62757a7739222c22746f6f6c223a22696e766f6963655f736869706d656e7473227d');
INSERT INTO public.audit VALUES (3, 'run-8ajbuzw9', 'step_began', 'bc67b7a2dc5016c5e31edbcd6a2153990d8f52d8247816044e21655b29d4b4d0', '17057be7b53851d3254f4c1af4538dcf983bd41758cb7b20db45aa6de96f05ad', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c226b696e64223a22737465705f626567616e222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d38616a62757a7739222c2273746570223a22732d73776d7a65707562222c22746f6f6c223a22706f73745f696e766f696365222c22776f726473223a22706f73745f696e766f69636528532d31303129227d');
INSERT INTO public.audit VALUES (4, 'run-8ajbuzw9', 'intent', '17057be7b53851d3254f4c1af4538dcf983bd41758cb7b20db45aa6de96f05ad', 'b2e1bf3a0469ff3ff1b435105ae53c566a2eb5fd7ca832bdada0b53721743240', '\x7b226163636f756e74223a2261636d65222c226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c2265766964656e6365223a5b2231316532323833343762376533616338626634326463666335363433613433316165383864343730653235386634623530313633346465653035356139623031225d2c2267657374757265223a22672d387a737679647839222c226b696e64223a22696e74656e74222c226d6f6e6f746f6e6963223a3130302c2272657665727365223a226e6f6e65206973206465636c61726564222c2272756e223a2272756e2d38616a62757a7739222c2273656e6473223a22504f5354202f696e766f69636573222c2273697465223a22626f6f6b73222c2273746570223a22732d73776d7a65707562222c22746172676574223a22706f737420616e20696e766f696365206f66203132302e303020746f204e6f726477696e64222c22746f6f6c223a22706f73745f696e766f696365227d');
INSERT INTO public.audit VALUES (5, 'run-8ajbuzw9', 'dispatch', 'b2e1bf3a0469ff3ff1b435105ae53c566a2eb5fd7ca832bdada0b53721743240', 'bdd745cce0707fcbed306c553800b552700727395a82261707b4d4f87a250c50', '\x7b22617070726f76616c223a226e6f6e6520776173206e6565646564222c226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c2267657374757265223a22672d387a737679647839222c2267756172646564223a747275652c226b696e64223a226469737061746368222c226d6f6e6f746f6e6963223a3130302c2270726573656e74223a226e6f626f6479222c2272756e223a2272756e2d38616a62757a7739222c2273746570223a22732d73776d7a65707562227d');
INSERT INTO public.audit VALUES (6, 'run-8ajbuzw9', 'released', 'bdd745cce0707fcbed306c553800b552700727395a82261707b4d4f87a250c50', '14ccf21fd6143affacec73d23c816693dcaa18ee5bd49bf009025cc0e392da73', '\x7b2261646472657373223a22687474703a2f2f3132372e302e302e313a383030312f696e766f69636573222c226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c2267657374757265223a22672d387a737679647839222c226b696e64223a2272656c6561736564222c226d6574686f64223a22504f5354222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d38616a62757a7739227d');
INSERT INTO public.audit VALUES (7, 'run-8ajbuzw9', 'verdict', '14ccf21fd6143affacec73d23c816693dcaa18ee5bd49bf009025cc0e392da73', '9fd75394bf7fc939e4db28db0dd0cae8962b995b6b34cfc5dda520e0028a78b0', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c22656e646564223a22696e5f646f756274222c2267657374757265223a22672d387a737679647839222c226b696e64223a2276657264696374222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d38616a62757a7739222c2273746570223a22732d73776d7a65707562227d');
INSERT INTO public.audit VALUES (8, 'run-8ajbuzw9', 'look', '9fd75394bf7fc939e4db28db0dd0cae8962b995b6b34cfc5dda520e0028a78b0', 'eab1c2f20f31c98e274277ed9000dfeb6be9c3348c08e3e5bbbafeb9ffea38a8', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c2267657374757265223a22672d387a737679647839222c226b696e64223a226c6f6f6b222c226c6f6f6b223a312c226d6f6e6f746f6e6963223a3130302c226f62736572766174696f6e73223a5b7b2265766964656e6365223a5b5d2c226964223a226f2d6a79393673776567222c226f62736572766572223a225265636f7264222c227369676874223a22756e636c656172227d5d2c2272756e223a2272756e2d38616a62757a7739227d');
INSERT INTO public.audit VALUES (9, 'run-8ajbuzw9', 'verdict', 'eab1c2f20f31c98e274277ed9000dfeb6be9c3348c08e3e5bbbafeb9ffea38a8', '029dd1310060af9d91f3d0576a9e092f0399bd62c0695cf6813f8fcd70afd5bb', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c22656e646564223a22756e6b6e6f776e222c2267657374757265223a22672d387a737679647839222c226b696e64223a2276657264696374222c226d6f6e6f746f6e6963223a3130302c22726561736f6e73223a5b226e6f7468696e672070726f766573206974225d2c2272756e223a2272756e2d38616a62757a7739222c2273746570223a22732d73776d7a65707562227d');
INSERT INTO public.audit VALUES (10, 'run-8ajbuzw9', 'question', '029dd1310060af9d91f3d0576a9e092f0399bd62c0695cf6813f8fcd70afd5bb', '3a6f1429df90e6d76a07c875e81882340cf38edd9d9d402a5fbd01ff365f2082', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c2265766964656e6365223a5b5d2c2267657374757265223a22672d387a737679647839222c226b696e64223a227175657374696f6e222c226b696e645f6f66223a226f7574636f6d65222c226d6f6e6f746f6e6963223a3130302c227175657374696f6e223a22712d6439797434222c22726561736f6e73223a5b226e6f7468696e672070726f766573206974225d2c2272756e223a2272756e2d38616a62757a7739222c2273746570223a22732d73776d7a65707562222c22776f726473223a2244696420746869732068617070656e3a20706f737420616e20696e766f696365206f66203132302e303020746f204e6f726477696e643f227d');
INSERT INTO public.audit VALUES (11, 'run-8ajbuzw9', 'verdict', '3a6f1429df90e6d76a07c875e81882340cf38edd9d9d402a5fbd01ff365f2082', '3e43eeb1de2bbe748275cfd30a2f5c9add1ad97cba0cabef5c8e2fcb82d04854', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c22656e646564223a2261736b6564222c2267657374757265223a22672d387a737679647839222c226b696e64223a2276657264696374222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d38616a62757a7739222c2273746570223a22732d73776d7a65707562227d');
INSERT INTO public.audit VALUES (12, 'run-8ajbuzw9', 'run_ended', '3e43eeb1de2bbe748275cfd30a2f5c9add1ad97cba0cabef5c8e2fcb82d04854', '57c068a82140f1a5a09703a7e256a4473204f33b17e87acd3c9fd63f0cc2a04e', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c22686f77223a2261207175657374696f6e207761697473222c226b696e64223a2272756e5f656e646564222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d38616a62757a7739222c227374617465223a2277616974696e67227d');
INSERT INTO public.audit VALUES (13, 'run-8ajbuzw9', 'answer', '57c068a82140f1a5a09703a7e256a4473204f33b17e87acd3c9fd63f0cc2a04e', 'f53917c325ee31784eb808bf5aaaa839ea3e2d7cf900e13ef738162d37f927f5', '\x7b22616e73776572223a2268617070656e6564222c226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c226279223a22616e6e222c2267657374757265223a22672d387a737679647839222c226b696e64223a22616e73776572222c226d6f6e6f746f6e6963223a3130302c227175657374696f6e223a22712d6439797434222c22726561736f6e223a2249206c6f6f6b656420617420746865206f72646572206c697374222c2272756e223a2272756e2d38616a62757a7739222c2273746570223a22732d73776d7a65707562227d');
INSERT INTO public.audit VALUES (14, 'run-8ajbuzw9', 'verdict', 'f53917c325ee31784eb808bf5aaaa839ea3e2d7cf900e13ef738162d37f927f5', 'c5802a606169d17e95cae28876050caadfddcbce3efec5c03cc11b2674f0c202', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c226279223a22616e6e222c22656e646564223a2268617070656e6564222c2267657374757265223a22672d387a737679647839222c226b696e64223a2276657264696374222c226d6f6e6f746f6e6963223a3130302c2270726f76656e5f6279223a5b22616e7377657220746f20712d643979743420627920616e6e3a2049206c6f6f6b656420617420746865206f72646572206c697374225d2c2272756e223a2272756e2d38616a62757a7739222c2273746570223a22732d73776d7a65707562222c2276616c756573223a7b7d7d');
INSERT INTO public.audit VALUES (15, 'run-8ajbuzw9', 'taken_over', 'c5802a606169d17e95cae28876050caadfddcbce3efec5c03cc11b2674f0c202', '4e3c74e39895fa9b473f0c5a9c631d5a6d588195e5f676f7ac426f2feaa73f96', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a322c226b6565706572223a227b5c227069645c223a20312c205c22737461727465645c223a20312e307d222c226b696e64223a2274616b656e5f6f766572222c226d6f6e6f746f6e6963223a3130302c2270726573656e74223a226e6f626f6479222c2272756e223a2272756e2d38616a62757a7739222c22746f6f6c223a22696e766f6963655f736869706d656e7473227d');
INSERT INTO public.audit VALUES (16, 'run-8ajbuzw9', 'step_finished', '4e3c74e39895fa9b473f0c5a9c631d5a6d588195e5f676f7ac426f2feaa73f96', '6af459ddfc6cfe136520d3007ed3c42442b0ec27ac81e1e272489ff7c28ee46c', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a322c226b696e64223a22737465705f66696e6973686564222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d38616a62757a7739222c2273746570223a22732d73776d7a65707562222c22746f6f6c223a22706f73745f696e766f696365227d');
INSERT INTO public.audit VALUES (17, 'run-8ajbuzw9', 'run_ended', '6af459ddfc6cfe136520d3007ed3c42442b0ec27ac81e1e272489ff7c28ee46c', '6a427499daeac29d11a6f925365165faacea0c41a0dc93079f64dab681c54780', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a322c22686f77223a22697473207461736b2063616d6520746f2069747320656e64222c226b696e64223a2272756e5f656e646564222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d38616a62757a7739222c227374617465223a2266696e6973686564227d');
INSERT INTO public.audit VALUES (18, 'run-ea7quuzx', 'run_submitted', '6a427499daeac29d11a6f925365165faacea0c41a0dc93079f64dab681c54780', 'd84518b57ba12d54c73190dfce6b8623a14102e7d78957080033b30675099109', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c2266696c65223a22696e766f696365732e7079222c226b6579223a2261736b6564222c226b696e64223a2272756e5f7375626d6974746564222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d6561377175757a78222c22746f6f6c223a22696e766f6963655f736869706d656e7473227d');
INSERT INTO public.audit VALUES (19, 'run-ea7quuzx', 'taken_over', 'd84518b57ba12d54c73190dfce6b8623a14102e7d78957080033b30675099109', '73bba363690d5c621e5647a9e727c344e13591e44b09e516ad59cd3f4224deca', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c226b6565706572223a227b5c227069645c223a20312c205c22737461727465645c223a20312e307d222c226b696e64223a2274616b656e5f6f766572222c226d6f6e6f746f6e6963223a3130302c2270726573656e74223a226e6f626f6479222c2272756e223a2272756e2d6561377175757a78222c22746f6f6c223a22696e766f6963655f736869706d656e7473227d');
INSERT INTO public.audit VALUES (20, 'run-ea7quuzx', 'step_began', '73bba363690d5c621e5647a9e727c344e13591e44b09e516ad59cd3f4224deca', 'bf4c2aaf1bfe861ad532ec0fdd7a660e9da017ec0313b4f8209128c314afb9ac', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c226b696e64223a22737465705f626567616e222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d6561377175757a78222c2273746570223a22732d326a327a6a67617a222c22746f6f6c223a22706f73745f696e766f696365222c22776f726473223a22706f73745f696e766f69636528532d31303229227d');
INSERT INTO public.audit VALUES (21, 'run-ea7quuzx', 'intent', 'bf4c2aaf1bfe861ad532ec0fdd7a660e9da017ec0313b4f8209128c314afb9ac', '809fe1a557fe794c06725143852598c0ee9a1d1884dbbb69c2d2139d5ef409de', '\x7b226163636f756e74223a2261636d65222c226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c2267657374757265223a22672d74386a32637a7165222c226b696e64223a22696e74656e74222c226d6f6e6f746f6e6963223a3130302c2272657665727365223a226e6f6e65206973206465636c61726564222c2272756e223a2272756e2d6561377175757a78222c2273656e6473223a22504f5354202f696e766f69636573222c2273697465223a22626f6f6b73222c2273746570223a22732d326a327a6a67617a222c22746172676574223a22706f737420616e20696e766f696365206f66203132302e303020746f204e6f726477696e64222c22746f6f6c223a22706f73745f696e766f696365227d');
INSERT INTO public.audit VALUES (22, 'run-ea7quuzx', 'dispatch', '809fe1a557fe794c06725143852598c0ee9a1d1884dbbb69c2d2139d5ef409de', '03ad8c113998b2a39eae14adb94b0db47c9000a1ca8b4767b62f8b49d21c3cf4', '\x7b22617070726f76616c223a226e6f6e6520776173206e6565646564222c226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c2267657374757265223a22672d74386a32637a7165222c2267756172646564223a747275652c226b696e64223a226469737061746368222c226d6f6e6f746f6e6963223a3130302c2270726573656e74223a226e6f626f6479222c2272756e223a2272756e2d6561377175757a78222c2273746570223a22732d326a327a6a67617a227d');
INSERT INTO public.audit VALUES (23, 'run-ea7quuzx', 'verdict', '03ad8c113998b2a39eae14adb94b0db47c9000a1ca8b4767b62f8b49d21c3cf4', 'e35f1c840443350b3b8da13280fb2fbe77b8d551ae6e26d0372f83b4408b4fda', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c22656e646564223a22696e5f646f756274222c2267657374757265223a22672d74386a32637a7165222c226b696e64223a2276657264696374222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d6561377175757a78222c2273746570223a22732d326a327a6a67617a227d');
INSERT INTO public.audit VALUES (24, 'run-ea7quuzx', 'verdict', 'e35f1c840443350b3b8da13280fb2fbe77b8d551ae6e26d0372f83b4408b4fda', 'f95853bea2b81dea648cf0e630fb30cf4d92629f156998ed9cae112299938995', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c22656e646564223a22756e6b6e6f776e222c2267657374757265223a22672d74386a32637a7165222c226b696e64223a2276657264696374222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d6561377175757a78222c2273746570223a22732d326a327a6a67617a227d');
INSERT INTO public.audit VALUES (25, 'run-ea7quuzx', 'question', 'f95853bea2b81dea648cf0e630fb30cf4d92629f156998ed9cae112299938995', 'f558b4f509174e963c1f13e86163695f7df403e1ecac1af291016214cfa5555a', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c2265766964656e6365223a5b5d2c2267657374757265223a22672d74386a32637a7165222c226b696e64223a227175657374696f6e222c226b696e645f6f66223a226f7574636f6d65222c226d6f6e6f746f6e6963223a3130302c227175657374696f6e223a22712d323465687a222c22726561736f6e73223a5b5d2c2272756e223a2272756e2d6561377175757a78222c2273746570223a22732d326a327a6a67617a222c22776f726473223a2257617320696e766f69636520532d31303220706f737465643f227d');
INSERT INTO public.audit VALUES (26, 'run-ea7quuzx', 'verdict', 'f558b4f509174e963c1f13e86163695f7df403e1ecac1af291016214cfa5555a', 'ebe647b8879d124310043c4b2c8b980f8a4f50c9605b829c91372f5f463cc173', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c22656e646564223a2261736b6564222c2267657374757265223a22672d74386a32637a7165222c226b696e64223a2276657264696374222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d6561377175757a78222c2273746570223a22732d326a327a6a67617a227d');
INSERT INTO public.audit VALUES (27, 'run-ea7quuzx', 'run_ended', 'ebe647b8879d124310043c4b2c8b980f8a4f50c9605b829c91372f5f463cc173', '61a958c04616cbbd23cf6eede01c5714fec8a088a4a9d33dac0fbd11604c7b4b', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c22686f77223a2261207175657374696f6e207761697473222c226b696e64223a2272756e5f656e646564222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d6561377175757a78222c227374617465223a2277616974696e67227d');
INSERT INTO public.audit VALUES (28, 'run-9zau8a2h', 'run_submitted', '61a958c04616cbbd23cf6eede01c5714fec8a088a4a9d33dac0fbd11604c7b4b', 'bdfe3136c997463f09c75bab5b5b94593759ea2d8748f2f931af2b7caea24135', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c2266696c65223a22696e766f696365732e7079222c226b6579223a22617070726f766564222c226b696e64223a2272756e5f7375626d6974746564222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d397a617538613268222c22746f6f6c223a22696e766f6963655f736869706d656e7473227d');
INSERT INTO public.audit VALUES (29, 'run-9zau8a2h', 'taken_over', 'bdfe3136c997463f09c75bab5b5b94593759ea2d8748f2f931af2b7caea24135', '66bf61a6c1dcb6ec12d0dfbf50e96c273782d70f3ceac803ac458e13d3764a5d', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c226b6565706572223a227b5c227069645c223a20312c205c22737461727465645c223a20312e307d222c226b696e64223a2274616b656e5f6f766572222c226d6f6e6f746f6e6963223a3130302c2270726573656e74223a226e6f626f6479222c2272756e223a2272756e2d397a617538613268222c22746f6f6c223a22696e766f6963655f736869706d656e7473227d');
INSERT INTO public.audit VALUES (30, 'run-9zau8a2h', 'question', '66bf61a6c1dcb6ec12d0dfbf50e96c273782d70f3ceac803ac458e13d3764a5d', '26059d3d9054e9166bf0a9981684bf93767543cf39fea6fcd567919277c66c95', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c2265766964656e6365223a5b5d2c226b696e64223a227175657374696f6e222c226b696e645f6f66223a22617070726f76616c222c226d6f6e6f746f6e6963223a3130302c227175657374696f6e223a22712d3673616268222c22726561736f6e73223a5b5d2c2272756e223a2272756e2d397a617538613268222c22776f726473223a2257617320696e766f69636520532d31303120706f737465643f227d');
INSERT INTO public.audit VALUES (31, 'run-9zau8a2h', 'run_ended', '26059d3d9054e9166bf0a9981684bf93767543cf39fea6fcd567919277c66c95', 'e2c38faa3aaa7af178c01be7ddce8046f3e273d83e7ccd5ccb119f646cf1b29e', '\x7b226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c22617474656d7074223a312c22686f77223a2261207175657374696f6e207761697473222c226b696e64223a2272756e5f656e646564222c226d6f6e6f746f6e6963223a3130302c2272756e223a2272756e2d397a617538613268222c227374617465223a2277616974696e67227d');
INSERT INTO public.audit VALUES (32, 'run-9zau8a2h', 'answer', 'e2c38faa3aaa7af178c01be7ddce8046f3e273d83e7ccd5ccb119f646cf1b29e', '80ab4863e72f62c1d508cdd90e139485b51aab15c58b8c2df8a769ce4e4c25b2', '\x7b22616e73776572223a22617070726f7665222c226174223a22323032362d31312d33305431323a30303a30302e3030302b30303a3030222c226279223a22626f62222c2263616c6c73223a5b22617070726f7665643a20706f73745f696e766f6963654031207b5c2269645c223a205c22532d3130315c227d225d2c2265787069726573223a22323032362d31322d30335430313a31393a32302e3230363930352b30303a3030222c226b696e64223a22616e73776572222c226d6f6e6f746f6e6963223a3130302c227175657374696f6e223a22712d3673616268222c22726561736f6e223a22616c6c2069732077656c6c222c2272756e223a2272756e2d397a617538613268227d');
INSERT INTO public.blob VALUES ('11e228347b7e3ac8bf42dcfc5643a431ae88d470e258f4b501634dee055a9b01', 'image/webp', 33, '2026-11-30 17:30:00+05:30');
INSERT INTO public.gesture VALUES ('g-8zsvydx9', 'run-8ajbuzw9', 's-swmzepub', 1, 1, 'happened', 'click', 'post an invoice of 120.00 to Nordwind', 'books', 'POST /invoices', '{"target": {"words": "button \"Post\""}, "proof": [{"kind": "Record", "site": "books"}], "known": {}}', NULL, '11e228347b7e3ac8bf42dcfc5643a431ae88d470e258f4b501634dee055a9b01', NULL, NULL, NULL, true, NULL, NULL, '{}', NULL, '["nothing proves it"]', '["answer to q-d9yt4 by ann: I looked at the order list"]', '2026-11-30 17:30:00+05:30', '2026-11-30 17:30:00+05:30', '2026-11-30 17:30:00+05:30', NULL, NULL);
INSERT INTO public.gesture VALUES ('g-t8j2czqe', 'run-ea7quuzx', 's-2j2zjgaz', 1, 1, 'asked', 'click', 'post an invoice of 120.00 to Nordwind', 'books', 'POST /invoices', '{"target": {"words": "button \"Post\""}, "proof": [{"kind": "Record", "site": "books"}], "known": {}}', NULL, NULL, NULL, NULL, NULL, true, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-30 17:30:00+05:30', '2026-11-30 17:30:00+05:30', NULL, NULL, NULL);
INSERT INTO public.keeper VALUES ('k-uskyudwx', 'old-host', '{"pid": 4711, "started": 1.0}', 2, '2026-12-03 05:49:17.072983+05:30', '2026-12-03 05:49:17.072983+05:30', '2026-12-03 05:49:17.084846+05:30');
INSERT INTO public.observation VALUES ('o-jy96sweg', 'run-8ajbuzw9', 'g-8zsvydx9', 1, 1, 0, '{"observer": "Record", "sight": "unclear", "reasons": ["no answer"], "evidence": []}', '2026-11-30 17:30:00+05:30');
INSERT INTO public.question VALUES ('q-d9yt4', 'run-8ajbuzw9', 's-swmzepub', 'g-8zsvydx9', 'outcome', 'answered', 'Did this happen: post an invoice of 120.00 to Nordwind?', '["nothing proves it"]', '[]', '{"needs": []}', '', '', NULL, '2026-11-30 17:30:00+05:30', 'happened', 'ann', 'I looked at the order list', '{}', false, '2026-11-30 17:30:00+05:30');
INSERT INTO public.question VALUES ('q-24ehz', 'run-ea7quuzx', 's-2j2zjgaz', 'g-t8j2czqe', 'outcome', 'open', 'Was invoice S-102 posted?', '[]', '[]', '{"needs": []}', '', '', NULL, '2026-11-30 17:30:00+05:30', NULL, NULL, NULL, NULL, false, NULL);
INSERT INTO public.question VALUES ('q-6sabh', 'run-9zau8a2h', NULL, NULL, 'approval', 'answered', 'Was invoice S-101 posted?', '[]', '[]', '{"calls": [{"step": "post_invoice@1", "arguments": "{\"id\": \"S-101\"}"}], "valid_seconds": 3600.0}', '', '', NULL, '2026-11-30 17:30:00+05:30', 'approve', 'bob', 'all is well', '{}', false, '2026-11-30 17:30:00+05:30');
INSERT INTO public.release VALUES (1, 'g-8zsvydx9', 1, 'POST', 'http://127.0.0.1:8001/invoices', '2026-11-30 17:30:00+05:30');
INSERT INTO public.run VALUES ('run-9zau8a2h', 'approved', 'invoices.py', 'invoice_shipments', '{"day": "2026-11-30"}', '{"books": {"url": "http://127.0.0.1:8001", "account": "acme"}}', 'waiting', 1, '56d7601b417afded0bcf92185c1afe4f', 0, NULL, 'q-6sabh was answered by bob: all is well', '2026-11-30 17:30:00+05:30', '2026-11-30 17:30:00+05:30', NULL, false, NULL, NULL, 0, 1, '2026-12-03 05:49:35.181366+05:30');
INSERT INTO public.run VALUES ('run-8ajbuzw9', 'settled', 'invoices.py', 'invoice_shipments', '{"day": "2026-11-30"}', '{"books": {"url": "http://127.0.0.1:8001", "account": "acme"}}', 'finished', 2, 'aac1fc6991f0e1cf99be60f52d12df00', 0, '["INV-2301"]', 'its task came to its end', '2026-11-30 17:30:00+05:30', '2026-11-30 17:30:00+05:30', NULL, false, NULL, NULL, 0, 0, NULL);
INSERT INTO public.run VALUES ('run-ea7quuzx', 'asked', 'invoices.py', 'invoice_shipments', '{"day": "2026-11-30"}', '{"books": {"url": "http://127.0.0.1:8001", "account": "acme"}}', 'waiting', 1, '7c1d7f5c03bbc362f115f12f3dde2d2f', 0, NULL, 'a question waits', '2026-11-30 17:30:00+05:30', '2026-11-30 17:30:00+05:30', NULL, false, NULL, NULL, 0, 1, '2026-12-03 05:49:34.335269+05:30');
INSERT INTO public.step VALUES ('s-swmzepub', 'run-8ajbuzw9', 1, 'post_invoice(S-101)', 'post_invoice', 'post_invoice(S-101)', '{"id": "S-101"}', true, 'finished', '"INV-2301"', NULL, NULL, 1, '2026-11-30 17:30:00+05:30', '2026-11-30 17:30:00+05:30', NULL);
INSERT INTO public.step VALUES ('s-2j2zjgaz', 'run-ea7quuzx', 1, 'post_invoice(S-102)', 'post_invoice', 'post_invoice(S-102)', '{"id": "S-101"}', true, 'begun', NULL, NULL, NULL, 1, '2026-11-30 17:30:00+05:30', NULL, NULL);
SELECT pg_catalog.setval('public.place_id_seq', 1, false);
SELECT pg_catalog.setval('public.release_id_seq', 1, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_question_id_position_key UNIQUE (question_id, "position");
ALTER TABLE ONLY public.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (run_id, number);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_prev_key UNIQUE (prev);
ALTER TABLE ONLY public.blob
    ADD CONSTRAINT blob_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.checkpoint
    ADD CONSTRAINT checkpoint_pkey PRIMARY KEY (run_id, purpose);
ALTER TABLE ONLY public.gesture
    ADD CONSTRAINT gesture_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.gesture
    ADD CONSTRAINT gesture_step_id_number_key UNIQUE (step_id, number);
ALTER TABLE ONLY public.keeper
    ADD CONSTRAINT keeper_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.login
    ADD CONSTRAINT login_pkey PRIMARY KEY (site, account);
ALTER TABLE ONLY public.observation
    ADD CONSTRAINT observation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.place
    ADD CONSTRAINT place_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.question
    ADD CONSTRAINT question_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.release
    ADD CONSTRAINT release_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_key_key UNIQUE (key);
ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.step
    ADD CONSTRAINT step_run_id_bookmark_key UNIQUE (run_id, bookmark);
ALTER TABLE ONLY public.step
    ADD CONSTRAINT step_run_id_seq_key UNIQUE (run_id, seq);
CREATE INDEX ix_approval_question_id ON public.approval USING btree (question_id);
CREATE INDEX ix_approval_run_id ON public.approval USING btree (run_id);
CREATE INDEX ix_audit_run_id ON public.audit USING btree (run_id);
CREATE INDEX ix_gesture_run_id ON public.gesture USING btree (run_id);
CREATE INDEX ix_gesture_step_id ON public.gesture USING btree (step_id);
CREATE INDEX ix_keeper_host ON public.keeper USING btree (host);
CREATE INDEX ix_observation_gesture_id ON public.observation USING btree (gesture_id);
CREATE INDEX ix_observation_run_id ON public.observation USING btree (run_id);
CREATE INDEX ix_question_gesture_id ON public.question USING btree (gesture_id);
CREATE INDEX ix_question_run_id ON public.question USING btree (run_id);
CREATE INDEX ix_release_gesture_id ON public.release USING btree (gesture_id);
CREATE INDEX ix_run_queue ON public.run USING btree (queued, state);
CREATE INDEX ix_step_run_id ON public.step USING btree (run_id);
CREATE TRIGGER an_ended_run_keeps_no_session AFTER UPDATE OF state ON public.run FOR EACH ROW WHEN (((new.state)::text = ANY ((ARRAY['finished'::character varying, 'abandoned'::character varying])::text[]))) EXECUTE FUNCTION public.ends_a_session();
CREATE TRIGGER answers_are_final BEFORE UPDATE OF state ON public.question FOR EACH ROW WHEN ((((old.state)::text <> 'open'::text) AND ((new.state)::text <> (old.state)::text))) EXECUTE FUNCTION public.refuses_a_change('an ended question stays ended');
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION public.refuses_a_change('an audit line is never removed');
CREATE TRIGGER audit_keeps_its_lines BEFORE UPDATE ON public.audit FOR EACH ROW EXECUTE FUNCTION public.refuses_a_change('an audit line is never changed');
CREATE TRIGGER audit_loses_no_line BEFORE DELETE ON public.audit FOR EACH ROW EXECUTE FUNCTION public.refuses_a_change('an audit line is never removed');
CREATE TRIGGER evidence_is_kept BEFORE UPDATE OF proven_by ON public.gesture FOR EACH ROW WHEN ((((old.state)::text = 'happened'::text) AND ((new.proven_by)::text IS DISTINCT FROM (old.proven_by)::text))) EXECUTE FUNCTION public.refuses_a_change('the evidence of a settled gesture is kept');
CREATE TRIGGER gesture_outcomes_are_final BEFORE UPDATE OF state ON public.gesture FOR EACH ROW WHEN ((((old.state)::text = ANY ((ARRAY['happened'::character varying, 'not_happened'::character varying, 'refused'::character varying, 'rejected'::character varying, 'abandoned'::character varying])::text[])) AND ((new.state)::text <> (old.state)::text))) EXECUTE FUNCTION public.refuses_a_change('a settled gesture keeps its outcome');
CREATE TRIGGER happened_comes_with_evidence BEFORE INSERT ON public.gesture FOR EACH ROW WHEN ((((new.state)::text = 'happened'::text) AND ((new.proven_by IS NULL) OR ((new.proven_by)::text = ANY ((ARRAY[''::character varying, '[]'::character varying, 'null'::character varying])::text[]))))) EXECUTE FUNCTION public.refuses_a_change('happened needs its evidence');
CREATE TRIGGER happened_needs_evidence BEFORE UPDATE OF state ON public.gesture FOR EACH ROW WHEN ((((new.state)::text = 'happened'::text) AND ((new.proven_by IS NULL) OR ((new.proven_by)::text = ANY ((ARRAY[''::character varying, '[]'::character varying, 'null'::character varying])::text[]))))) EXECUTE FUNCTION public.refuses_a_change('happened needs its evidence');
CREATE TRIGGER run_ends_are_final BEFORE UPDATE OF state ON public.run FOR EACH ROW WHEN ((((old.state)::text = ANY ((ARRAY['finished'::character varying, 'abandoned'::character varying])::text[])) AND ((new.state)::text <> (old.state)::text))) EXECUTE FUNCTION public.refuses_a_change('an ended run stays ended');
CREATE TRIGGER step_ends_are_final BEFORE UPDATE OF state ON public.step FOR EACH ROW WHEN ((((old.state)::text = 'finished'::text) AND ((new.state)::text <> (old.state)::text))) EXECUTE FUNCTION public.refuses_a_change('a finished step stays finished');
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_question_id_fkey FOREIGN KEY (question_id) REFERENCES public.question(id);
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id);
ALTER TABLE ONLY public.attempt
    ADD CONSTRAINT attempt_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id);
ALTER TABLE ONLY public.checkpoint
    ADD CONSTRAINT checkpoint_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id);
ALTER TABLE ONLY public.gesture
    ADD CONSTRAINT gesture_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id);
ALTER TABLE ONLY public.gesture
    ADD CONSTRAINT gesture_step_id_fkey FOREIGN KEY (step_id) REFERENCES public.step(id);
ALTER TABLE ONLY public.observation
    ADD CONSTRAINT observation_gesture_id_fkey FOREIGN KEY (gesture_id) REFERENCES public.gesture(id);
ALTER TABLE ONLY public.observation
    ADD CONSTRAINT observation_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id);
ALTER TABLE ONLY public.question
    ADD CONSTRAINT question_gesture_id_fkey FOREIGN KEY (gesture_id) REFERENCES public.gesture(id);
ALTER TABLE ONLY public.question
    ADD CONSTRAINT question_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id);
ALTER TABLE ONLY public.question
    ADD CONSTRAINT question_step_id_fkey FOREIGN KEY (step_id) REFERENCES public.step(id);
ALTER TABLE ONLY public.release
    ADD CONSTRAINT release_gesture_id_fkey FOREIGN KEY (gesture_id) REFERENCES public.gesture(id);
ALTER TABLE ONLY public.step
    ADD CONSTRAINT step_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.run(id);

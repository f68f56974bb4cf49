"""The Chinese phrase book. Only phrases; `story_arc.py` says what they are for.

Places in braces: hero, name (the hero, short), place (with its 上 or 里), spot (without), deed, met, friend (whom the hero
meets, short), light, trouble, turn, coda. Every beat has lines of at most 14 characters without a long placeholder, so that
a 5-second shot always finds one that fits.
"""

from comic_pipeline.providers.offline.story_arc import Beat, Flavour, PhraseBook, told

BEATS = {
    "opening": Beat(
        scenes=(
            "{place}，{light}，{hero}正在{deed}",
            "{light}，{hero}在{place}一个人{deed}",
            "{hero}站在{place}，{light}，四周安安静静",
        ),
        lines=told(
            "{place}，{name}独自{deed}。",
            "故事，从{spot}开始。",
            "谁也不知道，{name}为什么要{deed}。",
            "hero: 今天，也要好好{deed}！",
            "这一天，{name}醒得特别早。",
            "这一天，和往常不太一样。",
        ),
    ),
    "routine": Beat(
        scenes=(
            "{hero}在{place}认真地{deed}，脚边留下一串脚印",
            "{spot}的一角，{hero}一边{deed}，一边抬头张望",
            "{hero}在{place}走走停停，抬头张望",
        ),
        lines=told(
            "日子一天天过去，{name}从没停下。",
            "hero: 再坚持一下，就快好了。",
            "hero: 要是有谁陪着我就好了。",
            "{name}习惯了一个人。",
        ),
    ),
    "sign": Beat(
        scenes=("{hero}停下来，{spot}的远处有一点光在闪动", "{hero}惊讶地回头，地上多了一行陌生的脚印"),
        lines=told("hero: 咦，那是什么？", "hero: 是谁在那里？", "就在这时，远处亮了一下。", "一个陌生的声音，轻轻响起。"),
    ),
    "encounter": Beat(
        scenes=("{hero}在{place}遇到了{met}，睁大了眼睛", "{met}忽然出现在{hero}面前，{light}", "{hero}伸出手，向{met}打招呼"),
        lines=told(
            "hero: 你好呀，你是{friend}吗？",
            "friend: 别怕，我等你很久了。",
            "friend: 终于有人看见我了！",
            "hero: 我从没见过你这样的朋友。",
            "就这样，{name}遇见了{friend}。",
            "hero: 你，从哪里来？",
        ),
    ),
    "talk": Beat(
        scenes=("{hero}和{met}并肩坐在{place}，{light}", "{met}靠近{hero}，说起一个秘密"),
        lines=told(
            "friend: 我有一个秘密，只告诉你。",
            "hero: 以后，我们一起{deed}吧。",
            "friend: 你愿意相信我吗？",
            "hero: 原来，你也是一个人。",
            "那一夜，他们说了很多很多话。",
        ),
    ),
    "journey": Beat(
        scenes=(
            "{hero}和{met}一起穿过{spot}，一路向前奔跑",
            "{hero}带着{met}爬上高处，眺望{spot}",
            "{hero}在{place}跌倒又站起，{met}在前方等着",
            "风吹过{spot}，{hero}和{met}停下来看地图",
        ),
        lines=told(
            "hero: 跟紧我，就快到了！",
            "路很远，可谁也没有回头。",
            "friend: 前面的路，我陪你走。",
            "hero: 只要往前走，就一定能到。",
            "他们走了很久，很久。",
            "hero: 快看，那边有光！",
        ),
    ),
    "crisis": Beat(
        scenes=(
            "忽然，{trouble}，{hero}吃惊地看着{met}",
            "{trouble}，{hero}挡在{met}前面",
            "{trouble}，{spot}一下子变了样，{hero}焦急地四处张望",
        ),
        lines=told(
            "hero: 不好，{trouble}！",
            "hero: 别怕，{friend}，有我在！",
            "friend: {name}，快想想办法！",
            "可是，{trouble}。",
            "hero: 怎么会这样？",
            "friend: 已经没有时间了！",
        ),
    ),
    "doubt": Beat(
        scenes=("{hero}低着头坐在{spot}的角落，{light}", "{hero}看着自己的影子，{met}默默守在旁边"),
        lines=told(
            "hero: 也许，我真的做不到。", "friend: 我相信你，一直都信。", "{name}第一次想到了放弃。", "四周静得，只听见心跳。"
        ),
    ),
    "attempt": Beat(
        scenes=("{hero}深吸一口气，朝着光亮的地方跑去", "{hero}举起双手，{met}在身旁发出光芒"),
        lines=told(
            "hero: 再试一次，最后一次！",
            "hero: 我不会丢下{friend}的。",
            "{name}站了起来，向前跑去。",
            "friend: 我们一起，数到三！",
        ),
    ),
    "turn": Beat(
        scenes=("{turn}，{hero}和{met}抬头望去", "{turn}，{hero}高高跳起，{met}绕着它转圈"),
        lines=told(
            "就在那一刻，{turn}。",
            "hero: 快看，{turn}！",
            "friend: {name}，我们做到了！",
            "hero: 原来，答案一直在这里。",
            "谁也没想到，转机来了。",
        ),
    ),
    "farewell": Beat(
        scenes=("{light}，{hero}在{place}向{met}挥手", "{met}把一点光放进{hero}的手心"),
        lines=told(
            "friend: 谢谢你，{name}。", "hero: 我们还会再见的，对吗？", "friend: 想我的时候，就抬头看。", "有些再见，是为了重逢。"
        ),
    ),
    "ending": Beat(
        scenes=(
            "{place}，{hero}和{met}站在一起，{turn}",
            "{light}，{hero}回头微笑，{met}在身边闪闪发亮",
            "{turn}，{hero}和{met}看着远方",
        ),
        lines=told(
            "从此，{name}不再是一个人。",
            "{coda}",
            "hero: 明天，我们再一起{deed}！",
            "hero: {friend}，谢谢你陪着我。",
            "故事，才刚刚开始。",
        ),
    ),
}

FLAVOURS = {
    "healing": Flavour(
        lights=("柔和的晨光", "暖暖的夕阳", "温柔的星光", "淡淡的微光"),
        troubles=("一阵大风吹灭了所有的光", "花儿一朵朵低下了头", "天空暗了下来"),
        turns=("无数光点从地上升起", "花一下子全开了", "云散开，星光落了下来"),
        codas=("最小的光，也能照亮一片天。", "被人记得，就是最温暖的事。", "慢慢来，花总会开的。"),
        heroes=("小猫", "小兔", "女孩"),
        places=("花园里", "小岛上", "山坡上", "森林里"),
        deeds=("种花", "数星星", "写信", "收集月光"),
        friends=("会唱歌的星星", "迷路的小鸟", "会发光的蝴蝶"),
    ),
    "ink": Flavour(
        lights=("薄雾初起", "一轮淡月", "远山如黛", "细雨如丝"),
        troubles=("山中忽起大雾，来路尽失", "一声惊雷，桥断了", "墨色的云压了下来"),
        turns=("云开雾散，月照千山", "一叶扁舟自雾中来", "梅花一夜开遍山头"),
        codas=("山高水长，后会有期。", "一念既起，万水千山。", "江湖路远，且行且歌。"),
        heroes=("剑客", "书生", "白鹿"),
        places=("竹林里", "江南", "古寺前", "山谷里"),
        deeds=("练剑", "抚琴", "画山水", "采药"),
        friends=("白衣狐仙", "说书的老人", "衔花的小鹿"),
    ),
    "cyber": Flavour(
        lights=("霓虹在雨里闪烁", "冷蓝的全息广告", "品红色的灯光", "雨夜的反光"),
        troubles=("四周一下子断了电", "警报响彻夜空", "所有屏幕同时亮起红光"),
        turns=("数据像雨一样向上倒流", "第一束真正的阳光照了进来", "沉睡的系统重新亮起"),
        codas=("记忆会被删除，选择不会。", "这座城，第一次安静下来。", "信号断了，心还连着。"),
        heroes=("机器人", "黑客少女", "电子猫"),
        places=("霓虹街道上", "城市天台上", "空间站里"),
        deeds=("修补旧芯片", "追查信号", "送快递"),
        friends=("失忆的机器人", "戴耳机的小狐狸", "发光的机械鸟"),
    ),
    "comedy": Flavour(
        lights=("阳光好得过分", "大白天的", "灯光啪地一亮", "热热闹闹的下午"),
        troubles=("东西哗啦啦全倒了", "盒子怎么也打不开", "肚子咕咕大叫起来"),
        turns=("大家一起笑倒在地", "意外地居然成功了", "半空掉下来一个大蛋糕"),
        codas=("下次，还敢！", "生活嘛，笑一笑就过去了。", "结果，饭还是没吃上。"),
        heroes=("小狗", "老板", "小猪"),
        places=("厨房里", "教室里", "街道上", "便利店里"),
        deeds=("做早饭", "练倒立", "赶作业", "偷吃蛋糕"),
        friends=("爱抬杠的鹦鹉", "迷糊的机器人", "追着人跑的鹅"),
    ),
    "suspense": Flavour(
        lights=("昏暗的路灯", "惨白的月光", "百叶窗的影子", "一闪一闪的灯泡"),
        troubles=("灯全灭了", "身后的脚步声停了", "墙上的影子多了一个"),
        turns=("真相在镜子里露了出来", "上锁的抽屉自己开了", "第一缕晨光照进来"),
        codas=("有些门，打开了就关不上。", "真相，往往就在身边。", "钟声，又响了一次。"),
        heroes=("侦探", "记者", "守夜人"),
        places=("深夜的街道上", "旧图书馆里", "城堡里"),
        deeds=("调查旧案", "翻看日记", "巡夜"),
        friends=("没有影子的女孩", "戴面具的老人", "会写字的幽灵"),
    ),
    "fantasy": Flavour(
        lights=("极光流动", "金色的光雨", "两轮月亮升起", "魔法的微光"),
        troubles=("巨大的黑影遮住了天空", "脚下的大地裂开了", "封印一层层碎裂"),
        turns=("古老的剑发出光芒", "巨龙展开翅膀冲上天空", "断桥化作一道彩虹"),
        codas=("勇气，就是最古老的魔法。", "新的地图，又多了一笔。", "传说，由此而起。"),
        heroes=("少年", "小龙", "魔法师"),
        places=("城堡里", "山谷里", "云端上", "森林里"),
        deeds=("寻找魔法书", "守护灯火", "学飞"),
        friends=("刚出生的小龙", "会发光的精灵", "沉睡的骑士"),
    ),
}

BOOK = PhraseBook(
    beats=BEATS,
    flavours=FLAVOURS,
    titles=("{name}与{friend}", "{name}和{met}", "{name}遇见{friend}", "{name}与{friend}的约定"),
    moves=(
        "镜头缓慢推近 (push in)",
        "镜头从左向右平移 (pan right)",
        "镜头缓慢拉远，露出全景 (pull out)",
        "镜头从右向左平移 (pan left)",
        "镜头缓缓上摇 (tilt up)",
        "镜头缓缓下摇 (tilt down)",
    ),
    framings=("远景", "中景", "近景特写"),
    after=(
        "风，轻轻吹过。",
        "{name}没有说话。",
        "这一刻，好像很长很长。",
        "{light}，一切都慢了下来。",
        "没有人知道，后来会怎样。",
    ),
    about="这是一个关于{theme}的故事。",
)
